import { X509Certificate } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';

const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;

export function readCertificates(file: string): string | undefined {
  try {
    const certificates = readFileSync(file, 'utf8').match(PEM_CERTIFICATE);
    return certificates?.map((pem) => new X509Certificate(pem).toString()).join('');
  } catch {
    return undefined;
  }
}

export const MAX_SECRET_FILE_KIB = 16;

const READ_BY_OTHERS = 0o044;

export function isReadByOthers(file: string): boolean {
  const mode = statSync(file, { throwIfNoEntry: false })?.mode ?? 0;
  return process.platform !== 'win32' && (mode & READ_BY_OTHERS) !== 0;
}

/** Drops the line's end that editors add. Returns undefined for a file that is unreadable, empty or too long. */
export function readSecretFile(file: string): string | undefined {
  try {
    const stats = statSync(file);
    // A pipe would hold up the start until somebody writes to it.
    if (!stats.isFile() || stats.size > MAX_SECRET_FILE_KIB * 1024) return undefined;
    return readFileSync(file, 'utf8').trim() || undefined;
  } catch {
    return undefined;
  }
}
