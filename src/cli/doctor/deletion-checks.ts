import { type Check, emptyQuery } from './check.js';

/** The clean-up runs every minute, so a day is far too late. */
const OVERDUE_AFTER_MS = 86_400_000;

export const DELETION_CHECKS: Check[] = [
  emptyQuery(
    'no purge of a deleted organization is overdue',
    'Start an instance: it purges them. If one is running, its log says why it cannot.',
    'SELECT id AS fault FROM orgs WHERE purge_at < ?',
    () => [Date.now() - OVERDUE_AFTER_MS],
  ),
  emptyQuery(
    'every deleted organization has a purge time, and no other has one',
    'Somebody changed rows by hand. To restore one: UPDATE orgs SET deleted_at = NULL, purge_at = NULL WHERE id = …',
    `SELECT id AS fault FROM orgs WHERE (deleted_at IS NULL) <> (purge_at IS NULL)
      OR (purge_began_at IS NOT NULL AND purge_at IS NULL)`,
  ),
];
