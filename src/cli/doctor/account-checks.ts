import { ROLES } from '../../access/principal.js';
import { canonicalEmail } from '../../users/email-address.js';
import { type Check, emptyQuery, everyValue } from './check.js';

const OVERDUE_AFTER_MS = 86_400_000;

export const ACCOUNT_CHECKS: Check[] = [
  emptyQuery(
    'every organization has an owner',
    'Make somebody its owner: accounts orgs add-owner …',
    `SELECT o.id AS fault FROM orgs o
      WHERE o.deleted_at IS NULL
        AND NOT EXISTS (SELECT 1 FROM members m WHERE m.org_id = o.id AND m.role = 'owner')`,
  ),
  emptyQuery(
    'every organization has an owner whose account is enabled',
    'Nobody can manage its owners. Enable one of them, or make somebody its owner: accounts orgs add-owner …',
    `SELECT CONCAT(o.id, ' ', o.name) AS fault FROM orgs o
      WHERE o.deleted_at IS NULL
        AND EXISTS (SELECT 1 FROM members m WHERE m.org_id = o.id AND m.role = 'owner')
        AND NOT EXISTS (SELECT 1 FROM members m JOIN users u ON u.id = m.user_id
          WHERE m.org_id = o.id AND m.role = 'owner' AND u.disabled_at IS NULL)`,
  ),
  emptyQuery(
    'every membership belongs to a user and an organization',
    'Restore these rows from a backup, or delete them once nobody needs them.',
    `SELECT m.user_id AS fault FROM members m
      WHERE NOT EXISTS (SELECT 1 FROM users u WHERE u.id = m.user_id)
         OR NOT EXISTS (SELECT 1 FROM orgs o WHERE o.id = m.org_id)`,
  ),
  emptyQuery(
    'every membership has the e-mail of its user',
    'Lists show a wrong e-mail: UPDATE members SET email = (SELECT email FROM users WHERE id = user_id) WHERE user_id = …',
    `SELECT m.user_id AS fault FROM members m JOIN users u ON u.id = m.user_id WHERE m.email <> u.email`,
  ),
  emptyQuery(
    'exactly the disabled accounts are listed as disabled',
    'Operators miss them: UPDATE users SET disabled_email = CASE WHEN disabled_at IS NULL THEN NULL ELSE email END WHERE id = …',
    `SELECT u.id AS fault FROM users u
      WHERE COALESCE(u.disabled_email, '') <> CASE WHEN u.disabled_at IS NULL THEN '' ELSE u.email END`,
  ),
  emptyQuery(
    'exactly the deleted organizations are listed as deleted',
    'Operators miss them: UPDATE orgs SET deleted_name = CASE WHEN deleted_at IS NULL THEN NULL ELSE name END WHERE id = …',
    `SELECT o.id AS fault FROM orgs o
      WHERE COALESCE(o.deleted_name, '') <> CASE WHEN o.deleted_at IS NULL THEN '' ELSE o.name END`,
  ),
  emptyQuery(
    'every membership has a valid role',
    `Set it to one of ${ROLES.join(', ')}.`,
    `SELECT m.user_id AS fault FROM members m WHERE m.role NOT IN (${ROLES.map((role) => `'${role}'`).join(', ')})`,
  ),
  emptyQuery(
    'no session belongs to a deleted user',
    'Delete these sessions: their tokens must not work.',
    `SELECT s.id AS fault FROM sessions s WHERE NOT EXISTS (SELECT 1 FROM users u WHERE u.id = s.user_id)`,
  ),
  emptyQuery(
    'every authorization code belongs to a session',
    'Delete these codes; nobody can use them.',
    `SELECT c.hash AS fault FROM authorization_codes c
      WHERE NOT EXISTS (SELECT 1 FROM sessions s WHERE s.id = c.session_id)`,
  ),
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

export const EMAIL_CHECK = everyValue(
  'every e-mail is in its canonical form',
  'Nobody can log in with these e-mails: change them to the canonical form, or ask their owners which is right.',
  'SELECT id, email AS value FROM users WHERE id > ? ORDER BY id',
  () => (email) => canonicalEmail(email) === email,
);
