import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryDirectory } from '../../tooling/processes/at-exit.js';
import { requireProgram } from '../../tooling/processes/find-program.js';

const run = promisify(execFile);
const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
const DAYS = '2';

/** Files in PEM. */
export interface Certificate {
  certificate: string;
  key: string;
}

/** A certificate authority that is trusted only where it is configured. */
export class Authority implements Certificate {
  private constructor(
    private readonly directory: string,
    readonly certificate: string,
    readonly key: string,
  ) {}

  static async create(name: string): Promise<Authority> {
    const directory = temporaryDirectory('certificates');
    const [certificate, key] = [join(directory, 'ca.pem'), join(directory, 'ca.key')];
    const subject = ['-subj', `/CN=${name}`, '-days', DAYS];
    await openssl('req', '-x509', ...NEW_KEY, ...subject, '-keyout', key, '-out', certificate);
    return new Authority(directory, certificate, key);
  }

  /** @param alternativeNames as in `DNS:localhost,IP:127.0.0.1` @param days 0 for one that has expired */
  async issue(alternativeNames: string, days = DAYS): Promise<Certificate> {
    const base = join(this.directory, `${alternativeNames.replaceAll(/\W/g, '-')}-${days}`);
    const [certificate, key, request, extensions] = ['pem', 'key', 'csr', 'ext'].map(
      (ending) => `${base}.${ending}`,
    );
    writeFileSync(extensions!, `subjectAltName=${alternativeNames}\n`);
    await openssl('req', ...NEW_KEY, '-subj', '/CN=server', '-keyout', key!, '-out', request!);
    const signer = ['-CA', this.certificate, '-CAkey', this.key, '-CAcreateserial'];
    const content = ['-in', request!, '-extfile', extensions!, '-days', days];
    await openssl('x509', '-req', ...content, ...signer, '-out', certificate!);
    return { certificate: certificate!, key: key! };
  }
}

async function openssl(...args: string[]): Promise<void> {
  await run(requireProgram('openssl'), args);
}
