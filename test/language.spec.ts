import { expect } from 'chai';
import { hubDe } from '../residual/web/src/hub/hub-words.de.ts';
import { hub } from '../residual/web/src/hub/hub-words.ts';
import { english } from '../residual/web/src/language/english.ts';
import { german } from '../residual/web/src/language/german.ts';
import { viewerWordsDe } from '../residual/web/src/pages/vehicle/viewer/viewer-words.de.ts';
import { viewerWords } from '../residual/web/src/pages/vehicle/viewer/viewer-words.ts';

/** Every word of the page in both languages. That both have the same members, the type check knows. */

/** Names, units and words that German took over. */
const SAME = new Set(
  [
    'Android, Claude Code, Codex, Firefox, Linux, Natural Earth, VS Code, Windows, YOLOv5, iPhone, macOS',
    'ArduPilot, DGPS, Debug, Info, PPP, Radius, live, ArduPilot, EKF, FEC (k/n), GPIO, GPS, HDOP, HTTPS, I2C, ID, PIN, PX4, Remote ID, SNR, SSD, USB, YOLO11, iPad, YOLOv8',
    'Alarm, Barometer, Bitrate, Bits, Encoder, Failsafe, Failsafes, Fix, Frames, Gateway, Gateway (optional), Hotspot, Hub',
    'Downloads, Logging, Internet, Log, Logs, Maximum, Minimum, Mission, Modulation, Motor, Mountpoint, Name, Name (SSID), Offline, Online, Pilot',
    'Position, Rate, Region, Rover, Signal, Support, Tags, Token, Update, Uplink, Uplinks, Version, Vibration, Video, Wind',
  ].flatMap((line) => line.split(', ')),
);
/** Words of figures and names of files. */
const isUnits = (words: string): boolean =>
  words
    .split(/[^\p{L}.]+/u)
    .every((word) =>
      /^(?:m|km|s|min|h|d|ha|fps|kbit|ms|Hz|V|A|dBm|Modem|Motor|Version|Baud|baud|PID|log|\.?csv|\.?bin|MHz|µs|Failsafe|pt)?$/.test(
        word,
      ),
    );
/** @param words names with commas between them, perhaps with a unit */
const isSame = (words: string): boolean =>
  words
    .replace(/ \(m\)$/, '')
    .split(', ')
    .every((word) => SAME.has(word));
/** Which no German word is. */
const ENGLISH = /\b(?:the|and|is|are|not|of|with|from|this|that|your?|by)\b/;
const LETTERS = /\p{L}{2}/u;
/** What a sentence is tried with: it takes one of these kinds in each place. */
const VALUES = (place: number): readonly unknown[] => [
  40 + place,
  `Arg${place}`,
  [`Arg${place}`],
  null,
  true,
  false,
  1,
];
const MAX_TRIES = 5000;

type Sentence = (...values: readonly unknown[]) => unknown;
interface Pair {
  readonly path: string;
  readonly en: unknown;
  readonly de: unknown;
}

const isSentence = (value: unknown): value is Sentence => typeof value === 'function';

/** Every word and sentence, under its path, in both languages. */
function pairs(en: unknown, de: unknown, path: string): readonly Pair[] {
  if (typeof en !== 'object' || en === null) return [{ path, en, de }];
  const other = new Map<string, unknown>(Object.entries(de ?? {}));
  return Object.entries(en).flatMap(([name, value]: [string, unknown]) =>
    pairs(value, other.get(name), `${path}.${name}`),
  );
}

const PAIRS = [
  ...pairs(english, german, 'page'),
  ...pairs(hub, hubDe, 'hub'),
  ...pairs(viewerWords, viewerWordsDe, 'viewer'),
];

/** Each way to fill the places of a sentence. */
function* filled(places: number): Generator<readonly unknown[]> {
  if (places === 0) return yield [];
  for (const before of filled(places - 1)) for (const value of VALUES(places)) yield [...before, value];
}

/** What a language says of these values; null where English cannot take them. */
function said(sentence: Sentence, values: readonly unknown[]): string | null {
  try {
    const words = sentence(...values);
    return typeof words === 'string' ? words : null;
  } catch {
    return null;
  }
}

/** The values that are in it, whatever their order. */
const valuesIn = (words: string): readonly string[] =>
  [...new Set(words.match(/4[1-9]|Arg[1-9]/gi) ?? [])].map((each) => each.toLowerCase()).toSorted();

/** The sentence in both languages, for each kind of values that English takes. */
function* sentences({ en, de }: Pair): Generator<readonly [english: string, german: string | null]> {
  if (typeof en === 'string') return yield [en, typeof de === 'string' ? de : null];
  // Nothing for a person, such as a place in a list that is not used.
  if (!isSentence(en)) return;
  let tries = 0;
  for (const values of filled(en.length)) {
    if (++tries > MAX_TRIES) return;
    const words = said(en, values);
    if (words !== null) yield [words, isSentence(de) ? said(de, values) : null];
  }
}

/** Paths, with what is wrong there. */
function wrong(judge: (english: string, german: string) => string | null): string {
  const found = new Map<string, string>();
  for (const pair of PAIRS)
    for (const [en, de] of sentences(pair)) {
      const fault = de === null ? 'German says nothing' : judge(en, de);
      if (fault !== null) found.set(pair.path, fault);
    }
  return [...found].map(([path, fault]) => `${path}: ${fault}`).join('\n');
}

describe('the words of the page', () => {
  it('are some in German where they are some in English', () => {
    expect(
      wrong((en, de) => ((en.trim() === '') === (de.trim() === '') ? null : `“${en}” is “${de}”`)),
    ).to.equal('');
  });

  it('are German, except for what is the same in both languages', () => {
    expect(
      wrong((en, de) => {
        if (ENGLISH.test(de)) return de;
        const names = en.replaceAll(/Arg[1-9]|true|false|null|undefined/gi, '');
        return en === de && LETTERS.test(names) && !isUnits(names) && !isSame(en) ? en : null;
      }),
    ).to.equal('');
  });

  it('hold the same values in both languages', () => {
    expect(
      wrong((en, de) => (valuesIn(en).join() === valuesIn(de).join() ? null : `“${en}” is “${de}”`)),
    ).to.equal('');
  });

  it('are set as print is: quotes and apostrophes, and a space before a unit', () => {
    const set = (words: string): boolean =>
      !/['"]|\.\.\.|\d(?:m|km|s|min|%|V|A|MHz|dBm)\b/.test(words.replaceAll(/`[^`]*`/g, ''));
    expect(wrong((en, de) => (set(en) && set(de) ? null : `“${en}” is “${de}”`))).to.equal('');
  });
});
