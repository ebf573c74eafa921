export function timeText(epochMs: number): string {
  return new Date(epochMs).toISOString();
}

export function timeOrNull(epochMs: number | null | undefined): string | null {
  return epochMs === null || epochMs === undefined ? null : timeText(epochMs);
}
