import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigurationError } from '../config/variables.js';
import { canonicalLocale } from '../identifiers/text.js';
import { MAIL_KINDS, type MailKind } from './mail.entity.js';

/** characters that show nothing, or reverse the direction of the text that follows */
const INVISIBLE =
  /[\p{Cf}\p{Cc}\p{Co}\p{Cn}]|(?![\u115F\u1160\u3164\uFFA0])\p{Default_Ignorable_Code_Point}/gu;
const BLANKS = /[\s\p{Z}\u115F\u1160\u3164\uFFA0\u2800]+/gu;
const QUOTES =
  /[\p{Quotation_Mark}`´¨˝\u02B9-\u02BC\u02C8\u02CA\u02CB\u02DD\u02EE\u02F5\u02F6\u055A\u05F3\u05F4\u2032-\u2037\u2057\u275B-\u275E\u3003\uA78B\uA78C]+/gu;
/** Mail programs turn text that continues after one of these into a link: `example.com`, `https:`, `ada@…`, `//`, `\\`. */
const DOTS = /([.\u2024\u3002\uFE52\uFF0E\uFF61]+)(?=[^\s.\u2024\u3002\uFE52\uFF0E\uFF61])/gu;
const JOINERS =
  /([:\u02D0\u0589\u05C3\u2236\uA789\uFE13\uFE55\uFF1A]|[\\\u29F5\u29F9\uFE68\uFF3C]|[/\u2044\u2215\u29F8\uFF0F](?=[/\u2044\u2215\u29F8\uFF0F]))(?=\S)/gu;
const AT_SIGNS = /\s*[@\uFE6B\uFF20]\s*/gu;
/** also combining marks at the start, which would change the quotation mark before them */
const EDGES = /^[\s\p{M}]+|\s+$/gu;

/** Makes text of a user safe in an email to another user: one line, no quotation marks, no links (`example. com`). */
export function harmless(text: string): string {
  return text
    .replaceAll(INVISIBLE, (character) => (/\s/.test(character) ? ' ' : ''))
    .replaceAll(QUOTES, "'")
    .replaceAll(DOTS, '$1 ')
    .replaceAll(JOINERS, '$1 ')
    .replaceAll(AT_SIGNS, ' @ ')
    .replaceAll(BLANKS, ' ')
    .replace(EDGES, '');
}

/** Cuts after neutralizing, which can lengthen the text. A dash stands for text that shows nothing. */
export function harmlessUpTo(length: number, text: string | null | undefined): string {
  return [...harmless(text ?? '')].slice(0, length).join('').trim() || '-';
}

/** `email_taken` replaces a code if the address already has an account. */
export type TemplateName = MailKind | 'email_taken';

export interface Template {
  subject: string;
  body: string;
}

export type Templates = ReadonlyMap<string, ReadonlyMap<TemplateName, Template>>;

const DEFAULT = '';

type Always = 'email' | 'time' | 'product';
type Placeholder =
  | Always
  | 'code'
  | 'organization'
  | 'inviter'
  | 'ip'
  | 'user_agent'
  | 'device'
  | 'key_name'
  | 'service'
  | 'provider';

type MailValues = Partial<Record<Placeholder, string>>;

export type MailText = { template: TemplateName; locale?: string | null } & Omit<MailValues, Always>;

/** Rows of 0.3 have the whole user agent, and no `system`. */
export type SignInDetails = Record<'ip' | 'user_agent' | 'device', string> & { system?: string };

/** the name as the user wrote it, of an email about an API key */
export type KeyDetails = Record<'name' | 'service', string>;

/** the title of the provider, as the operator wrote it */
export type LinkDetails = Record<'provider', string>;

const NAMES: readonly TemplateName[] = [...MAIL_KINDS, 'email_taken'];
const IN_A_NOTICE: readonly Placeholder[] = ['email', 'time', 'product'];
const WITH_CODE: readonly Placeholder[] = ['code', ...IN_A_NOTICE];
const ABOUT_A_KEY: readonly Placeholder[] = [...IN_A_NOTICE, 'key_name', 'service'];
const PLACEHOLDERS: Partial<Record<TemplateName, readonly string[]>> = {
  password_reset: WITH_CODE,
  password_setup: WITH_CODE,
  email_verification: WITH_CODE,
  email_change: WITH_CODE,
  invitation: [...WITH_CODE, 'organization', 'inviter'] satisfies Placeholder[],
  new_sign_in: [...IN_A_NOTICE, 'ip', 'user_agent', 'device'] satisfies Placeholder[],
  key_created: ABOUT_A_KEY,
  key_reported: ABOUT_A_KEY,
  identity_linked: [...IN_A_NOTICE, 'provider'] satisfies Placeholder[],
};

const SHIPPED = join(import.meta.dirname, 'templates');
const MAX_BYTES = 65_536;
const FILE = /^Subject: ?(\S[^\r\n]{0,199})\r?\n\r?\n(.*\S.*)$/s;
const PLACEHOLDER = /\{\{ *(\w*) *\}\}/g;
/** also what is only meant to be a tag, such as `de_AT` */
const LANGUAGE = /^[a-z]{2,3}(?:[-_].*)?$/i;
/** With the letter or digit of an extension, which is not a subtag to end with. */
const LAST_SUBTAG = /(?:-[a-z\d])?-[^-]*$|^[^-]*$/i;
const NO_SUCH_EMAIL = `no email has this name; expected ${NAMES.map(fileOf).join(', ')}`;

/** Texts of operators replace those of the same language. @throws ConfigurationError naming the faults of all */
export function loadTemplates(directory: string | undefined): Templates {
  const templates = new Map([[DEFAULT, new Map<TemplateName, Template>()]]);
  const problems = readAll(SHIPPED, templates);
  if (directory !== undefined) problems.push(...readAll(directory, templates));
  const missing = NAMES.filter((name) => !templates.get(DEFAULT)!.has(name));
  problems.push(...missing.map((name) => `MAIL_TEMPLATES: ${fileOf(name)}: is missing`));
  if (problems.length > 0) throw new ConfigurationError(problems);
  return templates;
}

function readAll(root: string, templates: Map<string, Map<TemplateName, Template>>): string[] {
  if (!isDirectory(root)) return ['MAIL_TEMPLATES: expected a directory'];
  const problems: string[] = [];
  const report = (path: string, problem: string): unknown =>
    problems.push(`MAIL_TEMPLATES: ${path}: ${problem}`);
  const isLanguage = (entry: string): boolean => LANGUAGE.test(entry) && isDirectory(join(root, entry));
  for (const folder of ['', ...readdirSync(root).filter(isLanguage)]) {
    const locale = folder === '' ? DEFAULT : canonicalLocale(folder);
    if (locale === undefined) {
      report(folder, 'expected a language tag such as de or pt-BR');
      continue;
    }
    const texts = templates.get(locale) ?? new Map<TemplateName, Template>();
    templates.set(locale, texts);
    for (const file of readdirSync(join(root, folder)).filter((entry) => entry.endsWith('.txt'))) {
      const path = join(folder, file);
      const name = NAMES.find((one) => fileOf(one) === file);
      const template = name ? readTemplate(join(root, path), name) : NO_SUCH_EMAIL;
      if (typeof template === 'string') report(path, template);
      else texts.set(name!, template);
    }
  }
  return problems;
}

/** Searches for `de-AT`, then `de`, then the default (RFC 4647 section 3.4). */
export function lookUp<Found>(
  locale: string | null | undefined,
  find: (tag: string) => Found | undefined,
): Found | undefined {
  for (let tag = locale ?? DEFAULT; tag !== DEFAULT; tag = tag.replace(LAST_SUBTAG, '')) {
    const found = find(tag);
    if (found !== undefined) return found;
  }
  return find(DEFAULT);
}

export function templateFor(templates: Templates, { template: name, locale }: MailText): Template {
  return lookUp(locale, (tag) => templates.get(tag)?.get(name))!;
}

export function renderBody({ body }: Template, values: Readonly<MailValues>): string {
  return body.replace(PLACEHOLDER, (_, name: keyof MailValues) => values[name] ?? '');
}

/** The language of the recipient, the zone of the installation: Accounts does not know that of the recipient. */
export function shownTime(time: number, locale: string | null | undefined, timeZone: string): string {
  const format = new Intl.DateTimeFormat(locale ?? 'en-GB', {
    ...({ day: 'numeric', month: 'long', year: 'numeric' } as const),
    ...({ hour: 'numeric', minute: '2-digit', timeZone, timeZoneName: 'short' } as const),
  });
  // Some mail programs show the narrow space of `9:30 AM` as a box.
  return format.format(time).replaceAll('\u202F', ' ');
}

function fileOf(name: TemplateName): string {
  return `${name.replaceAll('_', '-')}.txt`;
}

function readTemplate(path: string, name: TemplateName): Template | string {
  const text = readText(path);
  if (text === undefined) return `expected a readable text file of at most ${MAX_BYTES} bytes`;
  const [, subject, body] = FILE.exec(text) ?? [];
  if (subject === undefined || body === undefined) {
    return 'expected a first line "Subject: …", an empty line and a text';
  }
  if (/\{\{/.test(subject)) return 'the subject takes no placeholders';
  const used = [...body.matchAll(PLACEHOLDER)].map(([, placeholder]) => placeholder!);
  const allowed = PLACEHOLDERS[name] ?? IN_A_NOTICE;
  const unknown = used.find((placeholder) => !allowed.includes(placeholder));
  if (unknown !== undefined) return `there is no {{${unknown}}} here; expected ${allowed.join(', ')}`;
  if (allowed.includes('code') && !used.includes('code')) return 'misses {{code}}';
  return { subject: subject.trim(), body };
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function readText(path: string): string | undefined {
  try {
    if (statSync(path).size > MAX_BYTES) return undefined;
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path));
  } catch {
    return undefined;
  }
}
