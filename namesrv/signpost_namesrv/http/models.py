"""What models have in common, and the kinds of value that several of them use."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

INT_MAX = 2**31 - 1
LONG_MAX = 2**63 - 1


class Model(BaseModel):
    """A document, or the parameters of a call. Unknown keys are mistakes."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class Nothing(Model):
    """No parameters, no body."""


Name = Annotated[str, Field(min_length=1, max_length=1024)]
Int = Annotated[int, Field(ge=0, le=INT_MAX)]
Long = Annotated[int, Field(ge=0, le=LONG_MAX)]
AnyLong = Annotated[int, Field(ge=-LONG_MAX - 1, le=LONG_MAX)]
Millis = Annotated[int, Field(description="Milliseconds since 1970.")]
Revision = Annotated[int, Field(ge=0, le=LONG_MAX)]
