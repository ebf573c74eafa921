/** A small plausible mistake: `text` stands where the file has the characters from `start` to `end`. */
export interface Mistake {
  start: number;
  end: number;
  text: string;
}
