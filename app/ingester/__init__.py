"""Files into a collection: read ahead in processes of their own, encoded together, kept whole or not at all."""

from app.ingester.ingester import Ingester
from app.ingester.outcomes import Alike, Outcome, Progress, State
from app.ingester.readers import Limits
from app.ingester.sources import File, Source, Upload, Web, gather

__all__ = ["Alike", "File", "Ingester", "Limits", "Outcome", "Progress", "Source", "State", "Upload", "Web", "gather"]
