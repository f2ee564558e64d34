import type { MessageFormatElement } from '@formatjs/icu-messageformat-parser';
import { IntlMessageFormat } from 'intl-messageformat';
import { isObject } from '../../../../shared/member.ts';

/**
 * A catalogue (`locales/`) as the page uses it: a message without arguments is a text, one with arguments takes them by name and gives a
 * text. `Arguments` has the path of each of these.
 */
export type Words<Catalogue, Arguments, Path extends string = ''> = {
  readonly [Key in keyof Catalogue]: Catalogue[Key] extends string
    ? `${Path}${Key & string}` extends infer Full extends keyof Arguments
      ? (values: Arguments[Full]) => string
      : string
    : Catalogue[Key] extends readonly unknown[]
      ? Catalogue[Key]
      : Words<Catalogue[Key], Arguments, `${Path}${Key & string}.`>;
};

/** @param language whose plurals count. A test holds `Arguments` equal to what the messages say. */
export function wordsOf<Catalogue, Arguments>(
  catalogue: Catalogue,
  language: string,
): Words<Catalogue, Arguments>;
export function wordsOf(value: unknown, language: string): unknown {
  if (isParsed(value)) return sentence(value.icu, language);
  if (typeof value === 'string') return value.includes('{') ? sentence(value, language) : value;
  if (!isObject(value) || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, wordsOf(each, language)]));
}

type Values = Readonly<Record<string, string | number | boolean | null>>;

/** What `residual/web/messages.ts` makes of a message with arguments. */
interface Parsed {
  readonly icu: MessageFormatElement[];
}

function isParsed(value: unknown): value is Parsed {
  return isObject(value) && Array.isArray(value['icu']);
}

/** The formatter is made when the message is first said. */
function sentence(message: Parsed['icu'] | string, language: string): (values: Values) => string {
  let format: IntlMessageFormat | undefined;
  return (values) => {
    format ??= new IntlMessageFormat(message, language, undefined, { ignoreTag: true });
    return String(format.format(values));
  };
}

/** The word for a name that came from outside, such as a service's or a sensor's; undefined where the catalogue has none. */
export function wordFor<Word>(
  words: Readonly<Record<string, Word>>,
  name: string | number,
): Word | undefined {
  return Object.hasOwn(words, name) ? words[name] : undefined;
}
