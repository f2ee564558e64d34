import { GLYPH_ADVANCE, GLYPH_HEIGHT, GLYPH_WIDTH, glyph } from './glyphs.ts';

/** One plane of a picture, a byte a pixel. What is drawn outside of it is left out. */
export class Plane {
  readonly #bytes: Buffer;
  readonly #width: number;
  readonly #height: number;
  readonly #stride: number;

  /** @param stride bytes from one row to the next */
  constructor(bytes: Buffer, width: number, height: number, stride: number) {
    this.#bytes = bytes;
    this.#width = width;
    this.#height = height;
    this.#stride = stride;
  }

  /** Whole pixels. */
  fill(x: number, y: number, width: number, height: number, value: number): void {
    const left = Math.max(0, x);
    const right = Math.min(this.#width, x + width);
    const bottom = Math.min(this.#height, y + height);
    if (right <= left) return;
    for (let row = Math.max(0, y); row < bottom; row++)
      this.#bytes.fill(value, row * this.#stride + left, row * this.#stride + right);
  }

  /** A line of text on paper of its own, a dot wider than the text. @param scale pixels to a dot of the font */
  label(
    text: string,
    x: number,
    y: number,
    scale: number,
    { ink, paper }: { readonly ink: number; readonly paper: number },
  ): void {
    const { width, height } = labelSize(text, scale);
    this.fill(x, y, width, height, paper);
    for (const [index, character] of [...text].entries()) {
      glyph(character).forEach((dots, row) => {
        for (let column = 0; column < GLYPH_WIDTH; column++) {
          if (((dots >> (GLYPH_WIDTH - 1 - column)) & 1) === 0) continue;
          const dot = index * GLYPH_ADVANCE + column + 1;
          this.fill(x + dot * scale, y + (row + 1) * scale, scale, scale, ink);
        }
      });
    }
  }
}

/** Of a line of text with its paper, pixels. */
export function labelSize(text: string, scale: number): { readonly width: number; readonly height: number } {
  return { width: ([...text].length * GLYPH_ADVANCE + 1) * scale, height: (GLYPH_HEIGHT + 2) * scale };
}
