import type { Admission, KeyAdmission } from './guard.ts';
import type { KeyToken, UserToken } from './claims.ts';
import type { LiveSession } from './tokens.ts';

/** Holds the access token of a user where neither `JSON.stringify` nor `console.log` shows it, and no copy has it. */
class Admitted {
  readonly #token: string;

  constructor(token: string, shown: object) {
    Object.assign(this, shown);
    this.#token = token;
  }

  static tokenOf(admission: unknown): string {
    if (typeof admission === 'object' && admission !== null && #token in admission) return admission.#token;
    throw new TypeError('tokenFor needs an admission of a guard, and no copy of one');
  }
}

export function holding<Shown extends object>(token: string, admission: Shown): Shown {
  return new Admitted(token, admission) as Shown;
}

/** Returns an admission with further members, which holds the same token. */
export function extended<Shown extends object, More extends object>(
  admission: Shown,
  more: More,
): Shown & More {
  return holding(tokenOf(admission), { ...admission, ...more });
}

/** @throws TypeError for anything but an admission of a guard, such as a copy of one */
export const tokenOf = (admission: unknown): string => Admitted.tokenOf(admission);

export function admissionOf(
  token: string,
  known: UserToken | KeyToken,
  { email, emailVerified, amr, authTime }: LiveSession,
): Admission | KeyAdmission {
  const { via } = known;
  const user = { id: known.claims.sub, email, emailVerified };
  if (known.key) return holding(token, { ok: true, user, key: known.key, claims: known.claims, via });
  const { claims } = known;
  return holding(token, { ok: true, user, session: { id: claims.sid, amr, authTime }, claims, via });
}
