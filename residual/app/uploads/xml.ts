/** What S3 answers: a few elements without attributes. Read without a parser, because nothing in it nests twice. */

const ENTITIES: Readonly<Record<string, string>> = {
  '&quot;': '"',
  '&#34;': '"',
  '&apos;': "'",
  '&#39;': "'",
  '&lt;': '<',
  '&gt;': '>',
  '&amp;': '&',
};

/** The text in the first element of this name; null where there is none. */
export function valueOf(text: string, name: string): string | null {
  return valuesOf(text, name)[0] ?? null;
}

/** What is in each element of this name. */
export function valuesOf(text: string, name: string): readonly string[] {
  return text
    .split(new RegExp(`<${name}(?:\\s[^<>]*)?>`))
    .slice(1)
    .flatMap((rest) => {
      const end = rest.indexOf(`</${name}>`);
      return end < 0
        ? []
        : [
            rest
              .slice(0, end)
              .replaceAll(/&(?:quot|apos|lt|gt|amp|#34|#39);/g, (each) => ENTITIES[each] ?? each),
          ];
    });
}
