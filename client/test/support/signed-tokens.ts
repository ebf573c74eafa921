import { createHash, generateKeyPairSync, randomUUID, sign } from 'node:crypto';

const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const jwk = publicKey.export({ format: 'jwk' });
const kid = createHash('sha256').update(JSON.stringify(jwk)).digest('base64url');
const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** The key set of an Accounts that signed `signed` tokens. */
export const keySet = { keys: [{ ...jwk, kid, alg: 'ES256', use: 'sig' }] };
export const ISSUER = 'https://accounts.example.com';

export function signed(claims: object): string {
  const input = `${part({ alg: 'ES256', typ: 'at+jwt', kid })}.${part(claims)}`;
  return `${input}.${sign('sha256', Buffer.from(input), { key: privateKey, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`;
}

export interface Claims {
  sub: string;
  sid: string;
  [claim: string]: unknown;
}

/** The claims of a user's token for `billing`. */
export function userClaims(more: object = {}): Claims {
  const now = Math.floor(Date.now() / 1000);
  const ids = { sub: randomUUID(), sid: randomUUID(), jti: randomUUID() };
  const times = { iat: now, exp: now + 300, auth_time: now };
  return {
    iss: ISSUER,
    aud: 'billing',
    client_id: 'billing',
    ...ids,
    ...times,
    amr: ['pwd'],
    epoch: 0,
    ...more,
  };
}

/** The members of a token that came through these services, the latest last. */
export function by(...way: string[]) {
  const act = way.reduce<object | undefined>(
    (inner, name) => ({ sub: `service:${name}`, ...(inner && { act: inner }) }),
    undefined,
  );
  return { act, client_id: way.at(-1), via_epoch: 7 };
}

/** The claims of the own token of a service. */
export function serviceClaims(name: string, more: object = {}): object {
  const { iss, aud, jti, iat, exp } = userClaims();
  return { iss, aud, jti, iat, exp, sub: `service:${name}`, client_id: name, via_epoch: 7, ...more };
}
