//! Where a run keeps its data: marked directories that are made and removed safely.
