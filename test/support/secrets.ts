import type { Database } from './database.js';

const MIN_SECRET_LENGTH = 12;
/** A load writes very many lines that differ in nothing else, and there are many secrets; a UUID is none. */
const ALWAYS_NEW = /"(?:time|ms)":(?:"[\d:.TZ-]*"|[\d.]+)|"\w+Id":"[\da-f-]{36}"/g;

export class Secrets {
  private readonly values = new Set<string>();

  /** Ignores short values, which would be found in any text. */
  note(value: unknown): void {
    if (typeof value === 'string' && value.length >= MIN_SECRET_LENGTH) this.values.add(value);
  }

  noteToken(token: string): void {
    this.note(token);
    this.note(token.split('.')[2]);
  }

  /** @throws when one of them was logged */
  checkAbsentFrom(logs: string[]): void {
    const leaks = this.leaksIn(logs);
    if (leaks.length > 0) throw new Error(`The logs hold secrets: ${leaks.join(' | ')}`);
  }

  leaksIn(logs: string[]): string[] {
    const text = [...new Set(logs.map((line) => line.replaceAll(ALWAYS_NEW, '')))].join('\n');
    return [...this.values, '$argon2'].filter(
      (secret) => text.includes(secret) || text.includes(JSON.stringify(secret).slice(1, -1)),
    );
  }
}

/** Every row of every table, as it is stored. */
export async function storedTexts(db: Database): Promise<string[]> {
  const tables = db.url.startsWith('sqlite:')
    ? "SELECT name FROM sqlite_master WHERE type = 'table'"
    : 'SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE()';
  const names = (await db.query(tables)).map(({ name }) => String(name));
  const rows = await Promise.all(names.map((name) => db.query(`SELECT * FROM ${name}`)));
  return rows.flat().map((row) => JSON.stringify(row));
}
