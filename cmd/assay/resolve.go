package main

import (
	"context"
	"strings"

	"assay/engine/record"
	"assay/store"
)

// resolvePart resolves RUN, or a part of a story by its role: RUN:before and
// RUN:after. The before of an eval run's story is that run itself.
func (s *session) resolvePart(ctx context.Context, db *store.DB, name string) (string, error) {
	base, role, _ := strings.Cut(name, ":")
	id, err := db.Resolve(ctx, base)
	if err != nil || role == "" {
		return id, err
	}
	if role != record.RoleBefore && role != record.RoleAfter {
		return "", record.Problemf("no_part", "write RUN:before or RUN:after", "a story has no part named %q", role)
	}
	children, err := db.Children(ctx, id)
	if err != nil {
		return "", err
	}
	for _, c := range children {
		if c.Role == role {
			return c.ID, nil
		}
	}
	if run, err := db.Run(ctx, id); err == nil && role == record.RoleBefore && run.Mode == record.ModeEval {
		return id, nil
	}
	return "", record.Problemf("no_part", "give the recipe an after: block, or assay resume "+id, "run %s has no %s", id, role)
}
