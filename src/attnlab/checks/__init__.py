"""What a layer, a model or a student's file keeps: promises, leaks, steps, mistakes, cost."""
