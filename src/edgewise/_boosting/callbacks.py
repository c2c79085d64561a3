"""Callbacks: scikit-learn's (1.9 and later), with each boosting round as a task of the fit.

Older versions of scikit-learn have no callbacks. With them `set_callbacks` takes any objects that
have the methods `on_fit_task_begin(estimator, context)` and `on_fit_task_end(estimator, context)`,
which newer versions call, too; the latter stops the fit if it returns True. A hook that names
`fitted_estimator`, `X`, `y` or `metadata` as keyword-only parameters gets them.
"""

import copy
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

from .loop import Builder, History, Watcher

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:
    CallbackSupportMixin = with_callbacks = None


class Task:
    """The part of scikit-learn's callback context that the loop uses: a fit, or one round of it."""

    def __init__(self, callbacks: list[Any], task_name: str, task_id: int, max_subtasks: int):
        self.callbacks = callbacks
        self.task_name = task_name
        self.task_id = task_id
        self.max_subtasks = max_subtasks
        self._n_subtasks = 0

    def subcontext(self, task_name: str) -> "Task":
        self._n_subtasks += 1
        return Task(self.callbacks, task_name, self._n_subtasks - 1, 0)

    def call_on_fit_task_begin(self, *, estimator: Any, **given: Any) -> None:
        self._call("on_fit_task_begin", estimator, given)

    def call_on_fit_task_end(self, *, estimator: Any, **given: Any) -> bool:
        return self._call("on_fit_task_end", estimator, given)

    def _call(self, hook: str, estimator: Any, given: dict[str, Any]) -> bool:
        attributes = given.pop("reconstruction_attributes", None)
        answers = []
        for callback in self.callbacks:
            call = getattr(callback, hook)
            wanted = {
                name
                for name, parameter in inspect.signature(call).parameters.items()
                if parameter.kind == parameter.KEYWORD_ONLY
            }
            named = {name: value for name, value in given.items() if name in wanted}
            if "fitted_estimator" in wanted and attributes is not None:
                named["fitted_estimator"] = copy.copy(estimator)
                vars(named["fitted_estimator"]).update(attributes())
            answers.append(bool(call(estimator, self, **named)))
        return any(answers)


class OwnCallbackSupport:
    """Replaces scikit-learn's mixin in versions that lack it."""

    _skl_callbacks: list[Any]

    def set_callbacks(self, *callbacks: Any) -> Self:
        """Set the objects that are called at the beginning and end of every round.

        Parameters
        ----------
        *callbacks : objects
            Each has the methods `on_fit_task_begin(estimator, context)` and
            `on_fit_task_end(estimator, context)`; boosting stops if the latter returns True.

        Returns
        -------
        self
            The estimator.
        """
        hooks = ("on_fit_task_begin", "on_fit_task_end")
        for callback in callbacks:
            if not all(callable(getattr(callback, hook, None)) for hook in hooks):
                raise TypeError(f"A callback must have the methods {' and '.join(hooks)}.")
        self._skl_callbacks = list(callbacks)
        return self

    def _init_callback_context(self, task_name: str = "fit", max_subtasks: int = 0) -> Task:
        return Task(self._skl_callbacks, task_name, 0, max_subtasks)


def _as_it_is(method: Any) -> Any:
    return method


if TYPE_CHECKING:
    Supported = OwnCallbackSupport
else:
    Supported = CallbackSupportMixin or OwnCallbackSupport
managed: Callable[..., Any] = with_callbacks or _as_it_is


class CallbackWatcher(Watcher):
    """Calls the callbacks of an estimator in its rounds.

    `given` contains X, y and metadata of the fit; `attributes` returns the attributes that the
    estimator would have if the fit ended with this round.
    """

    def __init__(
        self,
        estimator: Any,
        n_rounds: int,
        given: dict[str, Any],
        attributes: Callable[[Builder, History], dict[str, Any]],
    ) -> None:
        self._estimator = estimator
        self._given = given
        self._attributes = attributes
        self._fit = estimator._init_callback_context(task_name="fit", max_subtasks=n_rounds)
        self._fit.call_on_fit_task_begin(estimator=estimator, **given)

    def begin(self) -> None:
        self._round = self._fit.subcontext(task_name="round")
        self._round.call_on_fit_task_begin(estimator=self._estimator, **self._given)

    def watch(self, builder: Builder, items: list[Any], history: History) -> str | None:
        stop = self._round.call_on_fit_task_end(
            estimator=self._estimator,
            reconstruction_attributes=lambda: self._attributes(builder, history),
            **self._given,
        )
        return "a callback" if stop else None

    def end(self, attributes: dict[str, Any]) -> None:
        """End the fit; `attributes` are those of the fitted estimator."""
        self._fit.call_on_fit_task_end(
            estimator=self._estimator, reconstruction_attributes=lambda: attributes, **self._given
        )
