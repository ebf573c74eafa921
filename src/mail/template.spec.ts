import * as fc from 'fast-check';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { harmless, loadTemplates, lookUp, shownTime, templateFor } from './template.js';

describe('text of somebody else in a mail', () => {
  it.each([
    ['stays as it is', 'Analytical Engines & Söhne (Zürich)', 'Analytical Engines & Söhne (Zürich)'],
    ['keeps letters of any script', '株式会社 пример ✨', '株式会社 пример ✨'],
    ['has no line breaks', 'A\u2028Your code:\u2029B\r\nC', 'A Your code: B C'],
    ['has no blank letters', 'A\u2800\u2800\u3164\u3164\u115F\u1160\uFFA0B', 'A B'],
    ['has nothing invisible', 'A\u200B\u200D\u2060\u00AD\u034F\uFE0F\u{E0041}B', 'AB'],
    ['has nothing that turns the direction', 'A\u202Egnp.B\u2066', 'Agnp. B'],
    ['cannot end its quotation', 'A" (verified)', "A' (verified)"],
    ['nor by typographic quotes', 'A” „B‟ «C» ＂D 〝E〞 「F」', "A' 'B' 'C' 'D 'E' 'F'"],
    ['nor by what looks like them', "A'' ʺB ˮC ″D ‴E ״F 〃G ``H ´´I", "A' 'B 'C 'D 'E 'F 'G 'H 'I"],
    ['nor by a mark that sticks to one', '\u0338\u0301 A', 'A'],
    ['is no domain', 'example.com', 'example. com'],
    ['is no domain of any script', 'пример.рф and 例え。テスト', 'пример. рф and 例え。 テスト'],
    ['is no domain with invisible dots', 'example\u200B.\u2060com', 'example. com'],
    ['is no domain with dots that look alike', 'a．b a․c a｡d', 'a． b a․ c a｡ d'],
    ['is no URL', 'https://example.com/x?y=z', 'https: / /example. com/x?y=z'],
    ['is no other URI', 'mailto:ada tel:123 javascript:x', 'mailto: ada tel: 123 javascript: x'],
    ['is no share', String.raw`\\server\share`, String.raw`\ \ server\ share`],
    ['is no address', 'ada@example.com', 'ada @ example. com'],
    ['ends as it likes', 'Engines Inc.', 'Engines Inc.'],
  ])('%s', (_, text, expected) => {
    expect(harmless(text)).toBe(expected);
  });

  const characters = '.:/\\@"\'”″ \u2800\u3164\u200B\u202E\u2028。．：＠a1-\u0301🙂';
  const pieces = [...characters, '..', '//', 'www', 'http', 'example', 'com'];
  const texts = fc
    .array(fc.oneof(fc.constantFrom(...pieces), fc.string({ unit: 'binary', maxLength: 3 })), {
      maxLength: 20,
    })
    .map((parts) => parts.join(''));

  it('never holds what ends a quotation, hides, breaks a line or becomes a link', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const shown = harmless(text);
        expect(harmless(shown)).toBe(shown);
        expect(shown).not.toMatch(/["“”„‟«»″〃\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u2800\u3164\u115F\u1160\uFFA0]/u);
        expect(shown).not.toMatch(/\s\s|^\s|\s$|''/);
        expect(shown).not.toMatch(/[.。．][^\s.。．]|:\S|\S@|@\S|\/\/|\\\S/u);
      }),
      { numRuns: 2000 },
    );
  });
});

const SHIPPED = join(import.meta.dirname, 'templates');
const filesIn = (folder: string): string[] => globSync('*.txt', { cwd: join(SHIPPED, folder) }).toSorted();

describe('the templates in another language', () => {
  const languages = globSync('*/', { cwd: SHIPPED });
  const placeholdersOf = (path: string): string[] => {
    const found = readFileSync(join(SHIPPED, path), 'utf8').matchAll(/\{\{ *(\w+) *\}\}/g);
    return [...new Set(Array.from(found, ([, name]) => name!))].toSorted();
  };

  it('are German', () => {
    expect(languages).toEqual(['de']);
  });

  it.each(languages.flatMap((folder) => filesIn('').map((file) => [folder, file] as const)))(
    '%s/%s has the placeholders of the English text',
    (folder, file) => {
      expect(filesIn(folder)).toContain(file);
      expect(placeholdersOf(join(folder, file))).toEqual(placeholdersOf(file));
    },
  );

  it('are all for an email that there is', () => {
    for (const folder of languages) expect(filesIn(folder)).toEqual(filesIn(''));
  });
});

describe('the language of an email', () => {
  const subjectFor = (locale: string | null): string =>
    templateFor(loadTemplates(undefined), { template: 'password_changed', locale }).subject;

  it.each(['de', 'de-AT', 'de-Latn-AT-1996', 'de-u-co-phonebk', 'de-x-office'])(
    'is German for %s',
    (locale) => {
      expect(subjectFor(locale)).toBe('Ihr Passwort wurde geändert');
    },
  );

  it.each([
    null,
    'en',
    'en-GB',
    'fr',
    'den',
    'und',
    'd',
    '',
    '..',
    '../de',
    'de/',
    '__proto__',
    'constructor',
  ])('is the default for %s', (locale) => {
    expect(subjectFor(locale)).toBe('Your password was changed');
  });

  it('is looked up from the whole tag to the language', () => {
    const asked: string[] = [];
    expect(lookUp('zh-Hant-u-co-stroke', (tag) => void asked.push(tag))).toBeUndefined();
    expect(asked).toEqual(['zh-Hant-u-co-stroke', 'zh-Hant-u-co', 'zh-Hant', 'zh', '']);
  });
});

describe('the time in an email', () => {
  it.each([
    [null, 'UTC', '22 November 2026 at 09:30 UTC'],
    [null, 'Europe/Berlin', '22 November 2026 at 10:30 CET'],
    ['en', 'America/New_York', 'November 22, 2026 at 4:30 AM EST'],
    ['de-AT', 'Europe/Vienna', '22. November 2026 um 10:30 MEZ'],
    ['fr', 'UTC', '22 novembre 2026 à 09:30 UTC'],
    ['de-x-office', '+05:30', '22. November 2026 um 15:00 GMT+5:30'],
  ])('for %s in %s is "%s"', (locale, zone, shown) => {
    expect(shownTime(Date.parse('2026-11-22T09:30Z'), locale, zone)).toBe(shown);
  });
});
