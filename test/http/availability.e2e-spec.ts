import { afterAll, describe, expect, it } from 'vitest';
import { engine } from '../support/engine.js';
import { unavailable } from '../support/expected.js';
import { holdRows } from '../support/held-rows.js';
import { anOrg } from '../support/personas.js';
import { startService } from '../support/service.js';

const service = await startService();
afterAll(() => service.stop());

describe('health', () => {
  it.each(['/health/live', '/health/ready'])('%s answers 200, and reveals no internals', async (path) => {
    const answer = await service.anyone.get(path);

    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ status: 'ok' });
    expect(answer.text).not.toMatch(/\d|sqlite|mysql|mariadb|localhost|password|version/i);
  });
});

describe('the deadline of an answer', () => {
  it('holds while a write waits for a lock repeatedly, for longer than the deadline', async () => {
    const { org, owner, member } = await anOrg(service);
    const held = await holdRows(service);
    try {
      await held.write('UPDATE orgs SET revision = revision + 1 WHERE id = ?', [org.id]);

      const answer = await owner.patch(`/api/orgs/${org.id}/members/${member.id}`, { role: 'admin' });

      expect(answer).toMatchObject(unavailable);
      const detail = engine === 'sqlite' ? 'cannot be reached' : 'took too long';
      expect(answer.body).toMatchObject({ detail: expect.stringContaining(detail) });
      expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    } finally {
      await held.rollback();
    }

    const later = await owner.patch(`/api/orgs/${org.id}/members/${member.id}`, { role: 'admin' });
    expect(later.status).toBe(200);
  });
});
