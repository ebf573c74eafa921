import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';

const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;

export function readCertificates(file: string): string | undefined {
  try {
    const certificates = readFileSync(file, 'utf8').match(PEM_CERTIFICATE);
    return certificates?.map((pem) => new X509Certificate(pem).toString()).join('');
  } catch {
    return undefined;
  }
}
