"""Decisions on real data. Run by `python -m benchmarks decisions`.

kdd          costs of mistakes: KDD Cup 1999
costs        plug-in decisions, weighted fits and soft-max boosting under random costs and noise
imbalance    class weights, focal loss, logit adjustment, equal priors and thresholds
thresholds   macro-F1 of fitted thresholds and of argmax, on imbalanced tables
sets         coverage and size of prediction sets, beside MAPIE
students     small models that stand in for large ones
"""
