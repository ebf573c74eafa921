import { describe, expect, it } from 'vitest';
import { anAccount, byCode } from '../support/personas.js';
import { aBoundToken, aCallToken, aServiceCaller, setCall } from '../support/services.js';
import { decodeToken, sessionIdOf } from '../support/signing-keys.js';
import { startService } from '../support/service.js';

const service = await startService();
const [billing, ledger, audit] = await Promise.all([
  aServiceCaller(service, 'introspect'),
  aServiceCaller(service, 'introspect'),
  aServiceCaller(service, 'introspect'),
]);
await setCall(service.db, billing, ledger);
await setCall(service.db, ledger, audit);
const ada = await anAccount(service, 'ada');

describe('a token that a service', () => {
  it('gets for a user names the user, the session and the way', async () => {
    const below = await byCode(service, ada);
    const subject = await aBoundToken(billing, below);
    const token = await aCallToken(billing, ledger, subject);
    const { sid, login_sid, branch_sid, auth_time, amr, epoch, sub, iss } = decodeToken(subject).claims;
    const kept = { sid, login_sid, branch_sid, auth_time, amr, epoch, sub, iss };
    const { claims, header } = decodeToken(token);
    expect(header).toEqual(decodeToken(subject).header);
    expect([login_sid, branch_sid]).toEqual([sessionIdOf(ada), sessionIdOf(below)]);
    const iat = claims['iat'] as number;
    expect(claims).toEqual({
      ...kept,
      aud: ledger.name,
      client_id: billing.name,
      act: { sub: `service:${billing.name}` },
      via_epoch: 0,
      jti: expect.any(String),
      iat,
      exp: iat + 300,
    });
    const introspected = await ledger.introspect({ token });
    expect(introspected.body).toEqual({
      active: true,
      token_type: 'Bearer',
      ...claims,
      username: ada.email,
      email_verified: false,
    });
    expect((await billing.introspect({ token })).body).toEqual({ active: false });
    const next = decodeToken(await aCallToken(ledger, audit, token)).claims;
    expect(next).toEqual({
      ...claims,
      aud: audit.name,
      client_id: ledger.name,
      act: { sub: `service:${ledger.name}`, act: { sub: `service:${billing.name}` } },
      jti: expect.any(String),
      iat: expect.any(Number),
      exp: expect.any(Number),
    });
  });

  it('gets for itself has neither user nor session', async () => {
    const token = await aCallToken(billing, ledger);
    const { claims } = decodeToken(token);
    const iat = claims['iat'] as number;
    expect(claims).toEqual({
      iss: 'accounts',
      aud: ledger.name,
      sub: `service:${billing.name}`,
      client_id: billing.name,
      via_epoch: 0,
      jti: expect.any(String),
      iat,
      exp: iat + 300,
    });
    expect((await ledger.introspect({ token })).body).toEqual({
      active: true,
      token_type: 'Bearer',
      ...claims,
    });
    expect((await billing.introspect({ token })).body).toEqual({ active: false });
  });
});
