import { X509Certificate } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';

/** Each problem begins with the name of a variable and omits its value, which may be a secret. */
export class ConfigurationError extends Error {
  constructor(readonly problems: string[]) {
    super(problems.join('\n'));
  }
}

const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;

export function readCertificates(file: string): string | undefined {
  try {
    const certificates = readFileSync(file, 'utf8').match(PEM_CERTIFICATE);
    return certificates?.map((pem) => new X509Certificate(pem).toString()).join('');
  } catch {
    return undefined;
  }
}

const MAX_SECRET_FILE_KIB = 16;

/** Root may let a group read its file, as a Secret of Kubernetes needs it; PostgreSQL has the same rule. */
export function isReadByOthers(file: string, ownId = process.geteuid?.()): boolean {
  const { mode, uid } = statSync(file, { throwIfNoEntry: false }) ?? { mode: 0, uid: 0 };
  const refused = uid === 0 && ownId !== 0 ? 0o004 : 0o044;
  return process.platform !== 'win32' && (mode & refused) !== 0;
}

function readSecretFile(file: string): string | undefined {
  try {
    const stats = statSync(file);
    // Reading a pipe could block.
    if (!stats.isFile() || stats.size > MAX_SECRET_FILE_KIB * 1024) return undefined;
    return readFileSync(file, 'utf8').trim() || undefined;
  } catch {
    return undefined;
  }
}

const OWN_PREFIXES = ['RATE_LIMIT_', 'ARGON2_'];
/** A shorter name, such as HOST, may differ by one letter from a variable of the system, such as HOME. */
const MIN_COMPARED_LENGTH = 8;
const TWO_MISTAKES_LENGTH = 13;
const MAX_COMPARED_LENGTH = 40;

/** Other programs set variables too, such as REDIS_PORT, so a name without one of our prefixes must be a likely typo. */
function misspelledNames(names: readonly string[], known: readonly string[]): string[] {
  return names
    .filter((name) => !known.includes(name) && (hasOwnPrefix(name) || name.length <= MAX_COMPARED_LENGTH))
    .flatMap((name) => {
      const shown = name.slice(0, MAX_COMPARED_LENGTH);
      const isTolerated = (mistakes: number, meant: string): boolean =>
        hasOwnPrefix(name) || mistakes <= toleratedMistakes(meant);
      const [nearest] = known
        .filter((meant) => isTolerated(Math.abs(meant.length - shown.length), meant))
        .map((meant) => ({ meant, mistakes: mistakesIn(shown, meant) }))
        .filter(({ meant, mistakes }) => isTolerated(mistakes, meant))
        .toSorted((one, other) => one.mistakes - other.mistakes);
      const meant = nearest?.meant ?? known.find((one) => moreWordsThan(one, name) === 0);
      return meant ? [`${shown}: there is no such variable; the nearest is ${meant}`] : [];
    });
}

const ENDING = /^(\w{3,}?)(?:IES|IED|ING|ED|ES|S|Y|E)$/;

/** Sorted, without their endings. Other programs share names of one word and those of OpenTelemetry. */
function wordsOf(name: string): string[] {
  if (name.startsWith('OTEL_') || name.length > MAX_COMPARED_LENGTH) return [];
  const words = name.split('_').map((word) => word.replace(ENDING, '$1'));
  return words.length > 1 ? words.toSorted() : [];
}

/** Returns undefined if the name lacks a word of the known one. */
function moreWordsThan(known: string, name: string): number | undefined {
  const more = wordsOf(name);
  const words = wordsOf(known);
  for (const word of words) {
    const index = more.indexOf(word);
    if (index === -1) return undefined;
    more.splice(index, 1);
  }
  return words.length > 0 ? more.length : undefined;
}

const hasOwnPrefix = (name: string): boolean => OWN_PREFIXES.some((prefix) => name.startsWith(prefix));

function toleratedMistakes({ length }: string): number {
  if (length < MIN_COMPARED_LENGTH) return 0;
  return length < TWO_MISTAKES_LENGTH ? 1 : 2;
}

function mistakesIn(name: string, meant: string): number {
  const rows: number[][] = [Array.from({ length: meant.length + 1 }, (_, column) => column)];
  for (let row = 1; row <= name.length; row += 1) {
    const line = [row];
    for (let column = 1; column <= meant.length; column += 1) {
      const differs = name[row - 1] === meant[column - 1] ? 0 : 1;
      const isSwap =
        row > 1 && column > 1 && name[row - 1] === meant[column - 2] && name[row - 2] === meant[column - 1];
      line[column] = Math.min(
        rows[row - 1]![column]! + 1,
        line[column - 1]! + 1,
        rows[row - 1]![column - 1]! + differs,
        isSwap ? rows[row - 2]![column - 2]! + 1 : Number.POSITIVE_INFINITY,
      );
    }
    rows.push(line);
  }
  return rows[name.length]![meant.length]!;
}

/** Hides the user and the password of a URL, its query and its fragment. */
export function withoutSecrets(text: string): string {
  const [, scheme = '', rest = ''] = /^([a-z][a-z\d+.-]*:\/\/)(.*)$/is.exec(text) ?? [];
  if (scheme === '') return text;
  // The password of a database may contain a question mark or a hash sign.
  const [location = ''] = /^(?:mysql|mariadb):/.test(scheme) ? [rest] : rest.split(/[?#]/);
  const shown = scheme + location.replace(/^.*@/s, '***@');
  return location === rest ? shown : `${shown}?***`;
}

/** `NAME_FILE` wins over `NAME`, which may be the default of a systemd unit. */
const IN_FILES = new Set(['DATABASE_URL', 'REDIS_URL', 'SMTP_URL']);

export class Variables {
  readonly problems: string[] = [];
  readonly exposed: string[] = [];
  private readonly known = new Set<string>();
  private readonly defaults = new Map<string, string>();
  private readonly fromFiles = new Map<string, string>();

  constructor(private readonly environment: NodeJS.ProcessEnv) {
    for (const name of IN_FILES) this.readFile(name);
  }

  get(name: string): string {
    const text = this.inEnvironment(name);
    return this.fromFiles.get(name) ?? text;
  }

  noteDefault(name: string, text: string): void {
    this.defaults.set(name, text);
  }

  /** Without secrets. Call it after all variables have been read. */
  effective(): { name: string; value: string; isDefault: boolean }[] {
    return [...this.known].map((name) => {
      const value = this.get(name);
      const shown = withoutSecrets(value || (this.defaults.get(name) ?? ''));
      return { name, value: shown, isDefault: value === '' };
    });
  }

  expect(name: string, expected: string): void {
    if (this.fromFiles.has(name)) this.problems.push(`${name}_FILE: expected a file with ${expected}`);
    else this.problems.push(`${name}: expected ${expected}`);
  }

  refuseMisspelled(): void {
    this.problems.push(...misspelledNames(this.setNames(), [...this.known]));
  }

  /** One word more may be the name of another program. Call it after all variables have been read. */
  doubtfulNames(): { name: string; meant: string }[] {
    const known = [...this.known];
    const unknown = this.setNames().filter((name) => !this.known.has(name));
    return unknown.flatMap((name) => {
      const meant = known.find((one) => moreWordsThan(one, name) === 1);
      return meant ? [{ name, meant }] : [];
    });
  }

  private setNames(): string[] {
    return Object.keys(this.environment).filter((name) => this.environment[name]?.trim());
  }

  private readFile(name: string): void {
    const file = this.inEnvironment(`${name}_FILE`);
    if (file === '') return;
    const text = readSecretFile(file);
    if (text === undefined) {
      const expected = `a readable file of at most ${MAX_SECRET_FILE_KIB} KiB that is not empty`;
      this.problems.push(`${name}_FILE: expected ${expected}`);
      return;
    }
    this.fromFiles.set(name, text);
    if (isReadByOthers(file)) this.exposed.push(`${name}_FILE`);
  }

  private inEnvironment(name: string): string {
    this.known.add(name);
    return this.environment[name]?.trim() ?? '';
  }
}
