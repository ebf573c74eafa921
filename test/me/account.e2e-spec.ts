import { afterAll, describe, expect, it } from 'vitest';
import { unauthorized } from '../support/expected.js';
import { anAccount } from '../support/personas.js';
import { startService } from '../support/service.js';

const service = await startService();
const ada = await anAccount(service, 'ada');
afterAll(() => service.stop());

describe('the account', () => {
  it('is shown with these fields, and no other', async () => {
    const { status, body } = await ada.get('/api/me/account');
    const [row] = await service.db.query('SELECT created_at FROM users WHERE id = ?', [ada.id]);
    expect([status, body]).toEqual([
      200,
      {
        user: { id: ada.id, email: ada.email },
        emailVerified: false,
        createdAt: new Date(Number(row!['created_at'])).toISOString(),
        passwordChangedAt: null,
      },
    ]);
  });

  it('says whether the e-mail is verified', async () => {
    await service.db.query('UPDATE users SET email_verified_at = 1 WHERE id = ?', [ada.id]);
    expect((await ada.get('/api/me/account')).body).toMatchObject({ emailVerified: true });
  });

  it('is shown to nobody who is not signed in', async () => {
    expect(await service.anyone.get('/api/me/account')).toMatchObject(unauthorized);
  });
});
