"""The attention lab: inspect variants, check your own, measure their cost."""
