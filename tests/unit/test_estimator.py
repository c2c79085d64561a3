"""Constructors that are written from the parameters that classes declare."""

import pickle
from inspect import signature
from typing import Any, ClassVar

import pytest
from sklearn.base import BaseEstimator, clone
from support import EVERY_CLASSIFIER

import edgewise
from edgewise._ground.estimator import with_parameters


@with_parameters
class Family(BaseEstimator):
    """A family.

    Parameters
    ----------
    depth : int
        How deep.
    rate : float
        How fast.
    """

    needed: Any
    depth: int = 3
    rate: float = 0.5
    limit: ClassVar[int] = 9


@with_parameters
class Member(Family):
    """A member.

    Parameters
    ----------
    own : str
        What the family does not have.
    rate : float
        How fast, otherwise.
    """

    own: str = "a"
    rate: float = 0.25


def test_a_class_has_its_own_parameters_and_then_those_of_its_family():
    of_member = signature(Member).parameters
    assert {name: p.default for name, p in of_member.items()} == {
        "own": "a", "rate": 0.25, "depth": 3,
    }  # fmt: skip
    assert {p.kind for p in of_member.values()} == {p.KEYWORD_ONLY for p in of_member.values()}
    assert of_member["own"].annotation is str
    assert Family().get_params() == {"depth": 3, "rate": 0.5}


def test_declarations_and_class_variables_are_not_parameters():
    assert "needed" not in signature(Family).parameters
    assert "limit" not in signature(Family).parameters
    assert Member.limit == 9


def test_only_instances_have_values():
    assert not hasattr(Member, "own")
    assert vars(Member(own="b")) == {"own": "b", "rate": 0.25, "depth": 3}


def test_scikit_learn_can_get_set_clone_and_pickle():
    member = Member(depth=7).set_params(own="c")
    assert member.get_params() == {"own": "c", "rate": 0.25, "depth": 7}
    assert clone(member).get_params() == member.get_params()
    assert pickle.loads(pickle.dumps(member)).get_params() == member.get_params()
    assert repr(member) == "Member(depth=7, own='c')"


def test_what_is_not_a_parameter_is_refused_by_name():
    with pytest.raises(TypeError, match=r"Member has no parameter 'deph'. Did you mean 'depth'?"):
        Member(deph=1)
    with pytest.raises(TypeError, match="positional"):
        Member(1)


def test_parameters_are_described_once_and_the_nearest_description_counts():
    described = str(edgewise.AOSOLogitBoostClassifier.__doc__)
    assert "learning_rate : float, default=0.1\n    Shrinkage:" in described
    assert "max_leaf_nodes : int, \"auto\" or None, default='auto'\n    Largest" in described
    assert described.count("max_leaf_nodes :") == 1


def test_a_class_may_still_write_its_own_constructor():
    class Own(edgewise.MARTClassifier):
        def __init__(self, *, more: int = 1, n_estimators: int = 5) -> None:
            super().__init__(n_estimators=n_estimators)
            self.more = more

    assert Own(more=2).get_params() == {"more": 2, "n_estimators": 5}
    assert Own().learning_rate == edgewise.MARTClassifier().learning_rate


@pytest.mark.parametrize("cls", EVERY_CLASSIFIER)
def test_no_class_keeps_a_parameter_as_an_attribute(cls):
    assert [name for name in signature(cls).parameters if hasattr(cls, name)] == []
