import { type Check, emptyQuery } from './check.js';

export const SERVICE_CHECKS: Check[] = [
  emptyQuery(
    'no removed service has a live secret, and no other has more than two',
    'Revoke them: UPDATE service_secrets SET revoked_at = created_at WHERE service = … AND revoked_at IS NULL',
    `SELECT v.name AS fault FROM services v JOIN service_secrets x ON x.service = v.name
      WHERE x.revoked_at IS NULL GROUP BY v.name, v.removed_at
      HAVING COUNT(*) > 2 OR v.removed_at IS NOT NULL`,
  ),
  emptyQuery(
    'every removed service is disabled',
    'Its secrets and sessions would be taken for live ones: UPDATE services SET disabled_at = removed_at WHERE name = …',
    'SELECT name AS fault FROM services WHERE removed_at IS NOT NULL AND disabled_at IS NULL',
  ),
  emptyQuery(
    'no session for a service that is disabled or gone is of its epoch, or of a later one',
    'It would be alive, or come alive. Revoke these sessions: UPDATE sessions SET revoked_at = created_at WHERE id = …',
    `SELECT s.id AS fault FROM sessions s LEFT JOIN services v ON v.name = s.service
      WHERE s.bound_epoch IS NOT NULL AND s.revoked_at IS NULL
        AND (v.name IS NULL OR s.bound_epoch > v.epoch
          OR (s.bound_epoch = v.epoch AND (v.disabled_at IS NOT NULL OR v.removed_at IS NOT NULL)))`,
  ),
];
