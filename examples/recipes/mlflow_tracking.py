"""MLflow records parameters, every round of `history_`, and the model file.

Needs mlflow, or mlflow-skinny.
"""

import tempfile
from pathlib import Path

import mlflow
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import edgewise

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)

with tempfile.TemporaryDirectory() as folder:
    mlflow.set_tracking_uri(f"sqlite:///{folder}/runs.db")
    mlflow.create_experiment("digits", artifact_location=(Path(folder) / "files").as_uri())
    mlflow.set_experiment("digits")
    with mlflow.start_run() as run:
        model = edgewise.AOSOLogitBoostClassifier(n_estimators=50).fit(X_train, y_train)
        mlflow.log_params(model.get_params())
        for step, loss in enumerate(model.history_["loss"]):
            mlflow.log_metric("loss", loss, step=step)
        mlflow.log_metric("accuracy", model.score(X_test, y_test))
        model.save(Path(folder) / "digits.edgewise")
        mlflow.log_artifact(str(Path(folder) / "digits.edgewise"))

    # A model file contains data only, so that loading it runs no code, unlike a pickle.
    file = mlflow.artifacts.download_artifacts(
        run_id=run.info.run_id, artifact_path="digits.edgewise"
    )
    same = (edgewise.load(file).predict(X_test) == model.predict(X_test)).all()
    print(f"the model from the run predicts the same: {same}")
