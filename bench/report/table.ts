import type { Ratio } from './figures.ts';

export function spread({ median, min, max }: Ratio): string {
  return median === undefined ? '' : `**${digits(median, 2)}** (${digits(min, 2)}–${digits(max, 2)})`;
}

export function verdict(target: string, met: boolean): string {
  return `${target} ${met ? 'met' : 'missed'}`.trim();
}

export function digits(value: number | undefined, decimals: number): string {
  return value === undefined ? '' : value.toFixed(decimals);
}

/** With commas, as in "1,000 users". */
export function grouped(value: number): string {
  return value.toLocaleString('en');
}
