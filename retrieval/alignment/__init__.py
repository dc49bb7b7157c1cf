"""One formula for all late-interaction scorers, sim(Q, D) = 1/Z sum S * A (ALIGNER, Qian et al. 2022).

The alignment A is the pairs of tokens that count, weighted by salience.  The names here load nothing; `pairs`, `gate`
and `scoring` need PyTorch.
"""

from propcite.retrieval.alignment.forms import FORMS, NEAREST, Alignment, alignment_of

__all__ = ["FORMS", "NEAREST", "Alignment", "alignment_of"]
