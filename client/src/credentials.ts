import type { Failed } from './send-request.ts';
import { requireKnown } from './known-members.ts';
import type { NoCredentials } from './problems.ts';

/** Name and secret of a service. */
export interface Credentials {
  name: string;
  /** The client calls a function for each request, so that a new secret needs no restart. */
  secret: string | (() => string | Promise<string>);
}
const MEMBERS = ['name', 'secret'] satisfies (keyof Credentials)[];

export const noCredentials: NoCredentials = {
  code: 'no_credentials',
  status: null,
  detail: 'This operation needs the credentials of a service.',
};

/** @throws TypeError for credentials that no service can have */
export function requireCredentials(credentials: Credentials | undefined): void {
  if (typeof credentials !== 'object' || credentials === null) {
    throw new TypeError('credentials must have the name and the secret of a service');
  }
  requireKnown('credentials do', credentials, MEMBERS);
  const { name, secret } = credentials;
  if (typeof name !== 'string' || name === '') throw new TypeError('credentials.name must be a name');
  if (typeof secret !== 'function' && (typeof secret !== 'string' || secret.trim() === '')) {
    throw new TypeError('credentials.secret must be a secret, or a function that returns it');
  }
}

/** Trims the secret: the newline at the end of a file is not part of it. */
export async function basicOf({ name, secret }: Credentials): Promise<string | Failed> {
  try {
    const text = typeof secret === 'string' ? secret : await secret();
    return `Basic ${btoa(`${name}:${text.trim()}`)}`;
  } catch (cause) {
    const unread: NoCredentials = { ...noCredentials, cause };
    return { ok: false, problem: unread };
  }
}
