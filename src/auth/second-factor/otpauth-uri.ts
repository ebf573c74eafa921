interface Enrolled {
  issuer: string;
  email: string;
  /** base32 */
  secret: string;
}

/** The key URI that authenticator apps read from a QR code. It names what is their default, too: some want to be told. */
export function otpauthUri({ issuer, email, secret }: Enrolled): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(email)}`;
  const issued = `issuer=${encodeURIComponent(issuer)}`;
  return `otpauth://totp/${label}?secret=${secret}&${issued}&algorithm=SHA1&digits=6&period=30`;
}
