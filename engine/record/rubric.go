package record

import "time"

// Rubric is one version of one rubric.
type Rubric struct {
	Hash string // see [RubricHash]
	Name string // which rubric it is a version of
	// Parent is the hash of the version that it was made from, "" for a first one.
	Parent string
	Text   Text
	// OtherLooks is how often a judge with it was measured on the half of gold that
	// rubrics are not tuned on.
	OtherLooks int
	CreatedAt  time.Time
}

// RubricHash is the identity of a rubric's text, as a [Scorer] holds it; "" of
// no text.
func RubricHash(text Text) string {
	if text == "" {
		return ""
	}
	return Identity("rubric", text)
}

// Standing is how far one scorer version has come with a run's done rollouts.
type Standing struct {
	Scorer string `json:"scorer"`
	Judged int    `json:"judged"` // with a judgment of any status
	OK     int    `json:"ok"`     // of those with a reward
	Done   int    `json:"done"`   // rollouts to judge
	Own    bool   `json:"own"`    // it gives the run its reward
}

// Complete reports whether every done rollout has its judgment.
func (s Standing) Complete() bool { return s.Done > 0 && s.Judged == s.Done }
