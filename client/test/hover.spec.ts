import { join } from 'node:path';
import ts from 'typescript';
import { expect, it } from 'vitest';

const SOURCE = join(import.meta.dirname, '../src');
const FILE = join(import.meta.dirname, 'hovered.ts');
const PROGRAM = `
import { createAdminClient } from '../src/admin.ts';
import { createClient, memoryStore, unwrap } from '../src/index.ts';
import { createGuard, createServiceClient } from '../src/service/index.ts';
const baseUrl = 'https://accounts.example.com';
const credentials = { name: 'billing', secret: 's' };
const client = createClient({ baseUrl, store: memoryStore() });
void client.changeMemberRole;
void client.logOut;
void unwrap(await client.createInvitation({ orgId: '', email: '', role: 'member' })).invitation.code;
void createAdminClient({ baseUrl, store: memoryStore() }).adminGetUser;
void createServiceClient({ baseUrl, credentials }).introspectToken;
const guard = createGuard({ issuer: baseUrl, audience: 'billing', credentials, maxStaleness: 30 });
void guard.authorize('', { orgId: '', atLeast: 7, amr: ['otp'] });
void guard.ready;
`;

/** An editor that has only this program open. */
function anEditor(): ts.LanguageService {
  const settings = { module: ts.ModuleKind.NodeNext, allowImportingTsExtensions: true, noEmit: true };
  return ts.createLanguageService({
    readFile: (path) => ts.sys.readFile(path),
    directoryExists: (path) => ts.sys.directoryExists(path),
    getDirectories: (path) => ts.sys.getDirectories(path),
    fileExists: (path) => path === FILE || ts.sys.fileExists(path),
    getCompilationSettings: () => ({ ...settings, strict: true, types: [] }),
    getCurrentDirectory: () => SOURCE,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    getScriptFileNames: () => [FILE],
    getScriptSnapshot: (path) => {
      const text = path === FILE ? PROGRAM : ts.sys.readFile(path);
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
    },
    getScriptVersion: () => '1',
  });
}

it('an editor shows the documentation of what a program uses', () => {
  const editor = anEditor();
  const shown = (name: string): string =>
    ts.displayPartsToString(
      editor.getQuickInfoAtPosition(FILE, PROGRAM.lastIndexOf(name))?.documentation ?? [],
    );
  expect(shown('changeMemberRole')).toContain("Change a member's role");
  expect(shown('logOut')).toContain('revokes its session');
  expect(shown('code;')).toMatch(/replayed.* has no code. Resend the invitation/);
  expect(shown('adminGetUser')).toContain('Get a user');
  expect(shown('introspectToken')).toContain('Introspect a token');
  for (const name of [
    'createGuard(',
    'authorize',
    'ready',
    'issuer',
    'audience',
    'credentials,',
    'maxStaleness',
  ])
    expect(shown(name), name).toMatch(/^[A-Z`].*\./s);
  for (const name of ['orgId', 'atLeast', 'amr']) expect(shown(name), name).toMatch(/^[A-Z`].*\./s);
});
