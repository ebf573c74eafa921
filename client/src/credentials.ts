import type { Failed } from './exchange.ts';
import type { NoCredentials } from './problems.ts';

/** Name and secret of a service. */
export interface Credentials {
  name: string;
  /** a function is asked for each request, so that a new secret needs no restart */
  secret: string | (() => string | Promise<string>);
}

export const noCredentials: NoCredentials = {
  code: 'no_credentials',
  status: null,
  detail: 'The operation is for services, and the client has no credentials of one.',
};

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
