import { AUTHENTICATION_METHODS, type AuthenticationMethod } from '../../access/principal.js';

export const PASSWORD_ALONE: readonly AuthenticationMethod[] = ['pwd'];

export const PASSWORD_AND_CODE: readonly AuthenticationMethod[] = ['pwd', 'otp'];

const SEPARATOR = ' ';

export function storedMethods(methods: readonly AuthenticationMethod[]): string {
  return methods.join(SEPARATOR);
}

/** An older instance stores none: it knows no other way than a password. Ignores what a later version may have stored. */
export function methodsIn(stored: string | null): readonly AuthenticationMethod[] {
  if (stored === null || stored === 'pwd') return PASSWORD_ALONE;
  const methods = stored.split(SEPARATOR);
  return AUTHENTICATION_METHODS.filter((method) => methods.includes(method));
}
