import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import ts from 'typescript';
import { hangTimeoutMs, waitFor } from '../../../tooling/wait.js';
import type { MailServer } from '../../support/mail-server.js';
import { AuthenticatorApp } from '../../support/second-factor.js';

const ROOT = resolve(import.meta.dirname, '../../..');
const CLIENT = join(ROOT, 'client/src');

/** What the page imports from the package, as its sources. */
const PACKAGE: Record<string, string> = {
  'accounts-client': join(CLIENT, 'index.ts'),
  'accounts-client/electron': join(CLIENT, 'electron/index.ts'),
  'accounts-client/electron/page': join(CLIENT, 'electron/page.ts'),
  'accounts-client/express': join(CLIENT, 'express.ts'),
  'accounts-client/file-store': join(CLIENT, 'file-store.ts'),
  'accounts-client/loopback': join(CLIENT, 'loopback.ts'),
  'accounts-client/service': join(CLIENT, 'service/index.ts'),
  'accounts-client/tauri': join(CLIENT, 'tauri.ts'),
  'accounts-client/testing': join(CLIENT, 'testing/index.ts'),
};

export function snippetsOf(page: string, language = 'ts'): string[] {
  return snippetsIn(readFileSync(join(ROOT, page), 'utf8'), language);
}

export function snippetsIn(text: string, language: string): string[] {
  const fences = text.matchAll(/^```(\w*)\n(.*?)^```$/gms);
  return [...fences].filter(([, its]) => its === language).map(([, , snippet]) => snippet!);
}

export async function typeErrors(directory: string, programs: Record<string, string>): Promise<string[]> {
  const files = Object.keys(programs).map((name) => join(directory, name));
  await Promise.all(Object.values(programs).map((text, index) => writeFile(files[index]!, text)));
  const program = ts.createProgram(files, {
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    target: ts.ScriptTarget.ES2024,
    lib: ['lib.es2024.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    erasableSyntaxOnly: true,
    verbatimModuleSyntax: true,
    allowImportingTsExtensions: true,
    skipLibCheck: true,
    noEmit: true,
    paths: Object.fromEntries(Object.entries(PACKAGE).map(([name, file]) => [name, [file]])),
    typeRoots: [join(ROOT, 'node_modules/@types')],
    types: ['node'],
  });
  return ts
    .getPreEmitDiagnostics(program)
    .map(
      ({ file, messageText }) =>
        `${file?.fileName ?? ''}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`,
    );
}

export async function run(file: string, program: string): Promise<object> {
  const { outputText } = ts.transpileModule(program, {
    compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2024 },
  });
  const linked = outputText.replaceAll(
    /(?<=from ')accounts-client[^']*/g,
    (name) => pathToFileURL(PACKAGE[name]!).href,
  );
  await writeFile(file, linked);
  return (await import(pathToFileURL(file).href)) as object;
}

/** Plays the user to whom a page talks: has the emails and the phone, and enters the codes. */
export class PageReader {
  private app: AuthenticatorApp | undefined;
  private readonly mailServer: MailServer;
  private readonly invited: string[];
  /** how many codes of own emails were entered */
  private entered = 0;

  /** @param invited who is asked for the code of an invitation, in that order */
  constructor(mailServer: MailServer, ...invited: string[]) {
    this.mailServer = mailServer;
    this.invited = invited;
  }

  readonly showQrCode = (uri: string, secret: string): Promise<void> => {
    if (new URL(uri).searchParams.get('secret') !== secret) throw new Error('the QR code has another secret');
    this.app = new AuthenticatorApp(secret);
    return Promise.resolve();
  };

  readonly ask = async (question: string): Promise<string> => {
    if (question.includes('app')) return this.app!.next();
    if (question.includes('invitation')) return (await this.mailServer.next(this.invited.shift()!)).code!;
    this.entered += 1;
    const own = () => this.mailServer.mails.filter(({ subject }) => !subject.includes('invited'));
    const codes = (): string[] => own().flatMap(({ code }) => code ?? []);
    await waitFor('the mail with the code', hangTimeoutMs(), () => codes().length >= this.entered);
    return codes()[this.entered - 1]!;
  };
}
