// Package helm stands in for Helm's templates.
package helm

// MergeMaps returns a with the values of b laid over it; maps in maps are merged likewise.
func MergeMaps(a, b map[string]any) map[string]any {
	out := make(map[string]any, len(a)+len(b))
	for key, value := range a {
		out[key] = value
	}
	for key, value := range b {
		over, isMap := value.(map[string]any)
		below, wasMap := out[key].(map[string]any)
		if isMap && wasMap {
			value = MergeMaps(below, over)
		}
		out[key] = value
	}
	return out
}
