/** The part of the optional package that is used, so that the build does not depend on it. */
declare module 'bcrypt' {
  export function compare(password: Buffer, hash: string): Promise<boolean>;
}
