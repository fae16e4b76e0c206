package store

import (
	"context"
	"encoding/json"
	"fmt"
)

// SavePlaces keeps where a person was in the app: JSON by place. Places that are
// not named stay as they are.
func (db *DB) SavePlaces(ctx context.Context, places map[string]json.RawMessage) error {
	for place, state := range places {
		if !json.Valid(state) {
			return &Error{Code: CodeInvalid, Where: place, Message: fmt.Sprintf("the state of %q is no JSON", place), Fix: "give JSON"}
		}
	}
	return db.tx(ctx, func(t *tx) error {
		for place, state := range places {
			err := t.exec(`INSERT INTO ui_state (place, state, saved_at) VALUES (?, ?, ?)
				ON CONFLICT (place) DO UPDATE SET state = excluded.state, saved_at = excluded.saved_at`, place, string(state), timeText(db.now()))
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// Places is what [DB.SavePlaces] kept.
func (db *DB) Places(ctx context.Context) (map[string]json.RawMessage, error) {
	places := map[string]json.RawMessage{}
	err := db.each(ctx, func(row scanner) error {
		var place, state string
		err := row.Scan(&place, &state)
		places[place] = json.RawMessage(state)
		return err
	}, "SELECT place, state FROM ui_state")
	return places, err
}
