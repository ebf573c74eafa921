/** Draws the tables of bench/RESULTS.md. `npm run reference` writes the pictures, so that none is older than its table. */
export function plots(results: string): Record<'rates' | 'growth' | 'memory', string> {
  return { rates: rates(results), growth: growth(results), memory: memory(results) };
}

const WIDTH = 880;
/** Where the names of rows end, and the bars begin. */
const LEFT = 280;
const ROW = 24;

type Row = Record<string, string>;

function rates(results: string): string {
  const rows = tableIn(results, 'Beside the baseline').map((row) => {
    const [median, least, greatest] = numbersIn(row['ratio']!);
    const [name, rate] = [row['operation']!, grouped(row['requests/s']!)];
    return { name, rate, median: median!, least: least!, greatest: greatest! };
  });
  const [scale, grid] = axis(
    rows.map(({ greatest }) => greatest),
    rows.length,
  );
  const bars = rows.flatMap(({ name, rate, median, least, greatest }, index) => {
    const y = top(index);
    return [
      label(name, y),
      `<rect class="first" x="${LEFT}" y="${y + 5}" width="${scale(median) - LEFT}" height="14" rx="2"/>`,
      `<path class="spread" d="M${scale(least)} ${y + 12}H${scale(greatest)}"/>`,
      `<text class="note" x="${WIDTH - 20}" y="${y + 17}" text-anchor="end">${rate}/s</text>`,
    ];
  });
  const described = rows.map(({ name, median }) => `${name} ${median}`).join(', ');
  return svg({
    title: 'Requests per second of Accounts, beside a service written by hand',
    description: `Bars of the ratio of the rates; 1 is as fast as the service written by hand: ${described}.`,
    note: `Ratio of the rates, median and spread; 1 is as fast. On the right: Accounts. ${dateOf(results, 'Beside the baseline')}, two cores.`,
    height: top(rows.length) + 50,
    content: [...grid, ...bars],
  });
}

function growth(results: string): string {
  const rows = tableIn(results, 'Lists for operators').map(({ 'Page of': name, SQLite, MariaDB }) => ({
    name: name!,
    points: [Number(SQLite), Number(MariaDB)] as const,
  }));
  const [scale, grid] = axis(
    rows.flatMap(({ points }) => points),
    rows.length,
  );
  const dots = rows.flatMap(({ name, points: [sqlite, mariadb] }, index) => {
    const y = top(index) + 12;
    return [
      label(name, y - 12),
      `<path class="between" d="M${scale(sqlite)} ${y}H${scale(mariadb)}"/>`,
      `<circle class="first" cx="${scale(sqlite)}" cy="${y}" r="6"/>`,
      `<rect class="second" x="${scale(mariadb) - 5}" y="${y - 5}" width="10" height="10"/>`,
    ];
  });
  const described = rows.map(({ name, points }) => `${name} ${points.join(' and ')}`).join('; ');
  const legend = `<circle class="first" cx="${LEFT + 6}" cy="80" r="6"/><text x="${LEFT + 18}" y="85">SQLite</text>
  <rect class="second" x="${LEFT + 90}" y="75" width="10" height="10"/><text x="${LEFT + 108}" y="85">MariaDB</text>`;
  return svg({
    title: 'What a list costs with 1,000,000 users, compared with 1,000',
    description: `Time of a page with 1,000,000 users, divided by that with 1,000, on SQLite and MariaDB: ${described}.`,
    note: `Time of a page of 100 with 1,000,000 users, divided by that with 1,000; 1 is no growth. ${dateOf(results, 'Lists for operators')}.`,
    height: top(rows.length) + 50,
    content: [legend, ...grid, ...dots],
  });
}

function memory(results: string): string {
  const rows = tableIn(results, 'Memory over').map((row) => ({
    requests: Number(row['requests']!.replaceAll(',', '')),
    after: Number(row['MiB after']),
    most: Number(row['most MiB']),
  }));
  const last = rows.at(-1)!;
  const [base, height] = [380, 280];
  const steps = [0, 100, 200, 300, 400];
  const x = (requests: number): number => round(80 + (requests / last.requests) * (WIDTH - 200));
  const y = (mib: number): number => round(base - (mib / 400) * height);
  const line = (of: 'after' | 'most'): string =>
    rows.map((row) => `${x(row.requests)} ${y(row[of])}`).join(' L');
  const described = rows.map(
    ({ requests, after }) => `${after} MiB after ${requests.toLocaleString('en-US')}`,
  );
  return svg({
    title: `Memory of one instance over ${last.requests.toLocaleString('en-US')} requests of all kinds`,
    description: `Resident memory: ${described.join(', ')}.`,
    note: `Resident memory in MiB after each part of the requests, and the most during it. ${dateOf(results, 'Memory over')}.`,
    height: 430,
    content: [
      ...steps.map(
        (mib) =>
          `<path class="grid" d="M80 ${y(mib)}H${WIDTH - 120}"/><text class="note" x="70" y="${y(mib) + 5}" text-anchor="end">${mib}</text>`,
      ),
      ...rows
        .filter((_, index) => index === 0 || (index > 2 && index % 2 === 1))
        .map(
          ({ requests }) =>
            `<text class="note" x="${x(requests)}" y="${base + 24}" text-anchor="middle">${requests.toLocaleString('en-US')}</text>`,
        ),
      `<path class="line second-line" d="M${line('most')}"/>`,
      `<path class="line first-line" d="M${line('after')}"/>`,
      `<text x="${WIDTH - 110}" y="${y(last.most) - 4}">most</text>`,
      `<text x="${WIDTH - 110}" y="${y(last.after) + 16}">after</text>`,
    ],
  });
}

interface Picture {
  title: string;
  description: string;
  note: string;
  height: number;
  content: string[];
}

/** Its colors are those of GitHub, in light and dark. */
function svg({ title, description, note, height, content }: Picture): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-labelledby="title desc">
  <title id="title">${title}</title>
  <desc id="desc">${description}</desc>
  <style>
    .card { fill: #ffffff; stroke: #d0d7de }
    .first { fill: #0969da }
    .second { fill: #bc4c00 }
    .first-line { stroke: #0969da }
    .second-line { stroke: #bc4c00 }
    .line { fill: none; stroke-width: 2.5 }
    .grid { stroke: #d8dee4 }
    .equal { stroke: #57606a; stroke-width: 2 }
    .spread { stroke: #1f2328; stroke-width: 2 }
    .between { stroke: #8c959f; stroke-width: 2 }
    text { fill: #1f2328; font: 14px system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif }
    .name { font-size: 18px; font-weight: 600 }
    .note { fill: #57606a }
    @media (prefers-color-scheme: dark) {
      .card { fill: #0d1117; stroke: #30363d }
      .first { fill: #58a6ff }
      .second { fill: #f0883e }
      .first-line { stroke: #58a6ff }
      .second-line { stroke: #f0883e }
      .grid { stroke: #30363d }
      .equal { stroke: #9aa4af }
      .spread { stroke: #e6edf3 }
      .between { stroke: #6e7681 }
      text { fill: #e6edf3 }
      .note { fill: #9aa4af }
    }
  </style>
  <rect class="card" x=".5" y=".5" width="${WIDTH - 1}" height="${height - 1}" rx="10"/>
  <text class="name" x="20" y="36">${title}</text>
  <text class="note" x="20" y="58">${note}</text>
  ${content.join('\n  ')}
</svg>
`;
}

const top = (index: number): number => 98 + index * ROW;
const label = (name: string, y: number): string =>
  `<text x="${LEFT - 12}" y="${y + 17}" text-anchor="end">${name.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</text>`;

/** From 0 to the next whole number above the values; the line at 1 is stronger. */
function axis(values: number[], rows: number): [scale: (value: number) => number, grid: string[]] {
  const greatest = Math.ceil(Math.max(...values));
  const scale = (value: number): number => round(LEFT + (value / greatest) * (WIDTH - LEFT - 120));
  const lines = Array.from({ length: greatest * 2 + 1 }, (_, place) => place / 2).map(
    (value) =>
      `<path class="${value === 1 ? 'equal' : 'grid'}" d="M${scale(value)} 98V${top(rows)}"/><text class="note" x="${scale(value)}" y="${top(rows) + 22}" text-anchor="middle">${value}</text>`,
  );
  return [scale, lines];
}

const round = (value: number): number => Math.round(value * 10) / 10;
const grouped = (rate: string): string => Number(rate.split('/')[0]).toLocaleString('en-US');
const numbersIn = (text: string): number[] => (text.match(/\d+(?:\.\d+)?/g) ?? []).map(Number);

/** The first table below the heading that begins so; of two columns of one name, the first. */
function tableIn(page: string, heading: string): Row[] {
  const [head, , ...rows] = sectionOf(page, heading)
    .split('\n')
    .filter((line) => line.startsWith('|'));
  if (head === undefined) throw new Error(`no table below "${heading}"`);
  const names = cellsOf(head);
  return rows.map((row) => {
    const cells = cellsOf(row);
    return Object.fromEntries(names.map((name) => [name, cells[names.indexOf(name)]!]));
  });
}

const sectionOf = (page: string, heading: string): string =>
  page.split(/^## /m).find((each) => each.startsWith(heading)) ?? '';

/** The first date below the heading, or in it. */
const dateOf = (page: string, heading: string): string =>
  /2\d{3}-\d\d-\d\d/.exec(sectionOf(page, heading))![0];

const cellsOf = (line: string): string[] =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());
