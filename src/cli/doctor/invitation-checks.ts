import { type Check, emptyQuery } from './check.js';

export const INVITATION_CHECKS: Check[] = [
  emptyQuery(
    'an e-mail has at most one pending invitation to an organization',
    "Somebody changed rows by hand: UPDATE invitations SET status = 'revoked', pending = NULL on all but the latest.",
    `SELECT MIN(i.id) AS fault FROM invitations i WHERE i.status = 'pending'
      GROUP BY i.org_id, i.email HAVING COUNT(*) > 1`,
  ),
  emptyQuery(
    'every invitation is pending, or has ended',
    "Somebody changed rows by hand: UPDATE invitations SET status = 'revoked', pending = NULL, ended_at = created_at WHERE id = …",
    `SELECT i.id AS fault FROM invitations i
      WHERE (i.status = 'pending' AND (i.pending IS NULL OR i.ended_at IS NOT NULL))
         OR (i.status <> 'pending' AND (i.pending IS NOT NULL OR i.ended_at IS NULL))`,
  ),
  emptyQuery(
    'every pending invitation is from somebody who may invite',
    "Nobody can accept it: UPDATE invitations SET status = 'revoked', pending = NULL, ended_at = created_at WHERE id = …",
    `SELECT i.id AS fault FROM invitations i WHERE i.pending = 1 AND NOT EXISTS (
        SELECT 1 FROM members m JOIN users u ON u.id = m.user_id JOIN orgs o ON o.id = m.org_id
        WHERE m.org_id = i.org_id AND m.user_id = i.invited_by AND m.role IN ('admin', 'owner')
          AND u.disabled_at IS NULL AND o.deleted_at IS NULL)`,
  ),
];
