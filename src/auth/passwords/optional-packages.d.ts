// The build must not depend on optional packages.
declare module 'argon2' {
  export const argon2id: 2;

  export function hash(
    password: Buffer,
    options: { type: 2; memoryCost: number; timeCost: number; parallelism: number; hashLength: number },
  ): Promise<string>;

  export function verify(phc: string, password: Buffer): Promise<boolean>;
}

declare module 'bcrypt' {
  export function compare(password: Buffer, hash: string): Promise<boolean>;
}
