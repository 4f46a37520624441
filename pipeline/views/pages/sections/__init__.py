"""The sections of pages: what each says, as blocks of a document."""
