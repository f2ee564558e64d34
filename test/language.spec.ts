import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { LANGUAGES } from '../residual/web/src/language/language.ts';
import { wordsOf } from '../residual/web/src/language/words.ts';
import audit from '../residual/web/src/locales/en/audit.json' with { type: 'json' };
import type { Row } from '../shared/routes/row.ts';
import { ROWS } from '../shared/routes/table.ts';
import {
  ARGUMENTS_FILE,
  argumentsDocument,
  argumentsOf,
  CATALOGUES,
  CONFIG_CATALOGUE,
  elementsOf,
  messagesOf,
  TAGS,
  textsOf,
} from './support/catalogues.ts';
import { isSaidAt, saidWords } from './support/said-words.ts';

/** The catalogues of the page's words: that a translation holds what the English has, and fits its place. */

/** Names, units and words that a language took over. */
const SAME: Readonly<Record<string, ReadonlySet<string>>> = {
  de: new Set(
    [
      'Android, Claude Code, Codex, Firefox, Linux, Natural Earth, VS Code, Windows, YOLOv5, iPhone, macOS',
      'ArduPilot, DGPS, Debug, EU, Info, PPP, Radius, live, ArduPilot, EKF, FEC (k/n), GPIO, GPS, HDOP, HTTPS, I2C, ID, PIN, PX4, Remote ID, SNR, SSD, USB, YOLO11, iPad, YOLOv8',
      'Alarm, Barometer, Bitrate, Bits, Encoder, Failsafe, Failsafes, Fix, Frames, Gateway, Gateway (optional), Hotspot, Hub',
      'Downloads, Logging, Internet, Log, Logs, Maximum, Minimum, Mission, Modulation, Motor, Mountpoint, Name, Name (SSID), Offline, Online, Pilot',
      'Position, Rate, Region, Rover, Signal, Support, Tags, Token, Update, Uplink, Uplinks, Version, Vibration, Video, Wind',
    ].flatMap((line) => line.split(', ')),
  ),
};
/** Words of figures and names of files. */
const isUnits = (words: string): boolean =>
  words
    .split(/[^\p{L}.]+/u)
    .every((word) =>
      /^(?:m|km|s|min|h|d|ha|fps|kbit|ms|Hz|V|A|dBm|MB|Modem|Motor|Version|Baud|baud|PID|log|\.?csv|\.?bin|MHz|µs|Failsafe|pt)?$/.test(
        word,
      ),
    );
/** @param words names with commas between them, perhaps with a unit */
const isSame = (same: ReadonlySet<string>, words: string): boolean =>
  words
    .replace(/ \(m\)$/, '')
    .split(', ')
    .every((word) => same.has(word));
/** Which no other language has. */
const ENGLISH = /\b(?:the|and|is|are|not|of|with|from|this|that|your?|by)\b/;
const LETTERS = /\p{L}{2}/u;

/** Characters at most: what is longer breaks into two lines on a phone. */
const MAX_ON_BUTTON = 36;
const MAX_ON_TAB = 16;
/** On a sheet of its own, which has room. */
const LONG_BUTTONS: readonly string[] = ['plan.clear.rally'];
/** A translation may have this many characters for so many of English. */
const mostFor = (english: number): number => english * 1.6 + 12;

const SAID = saidWords();

interface Message {
  /** With the catalogue before it. */
  readonly path: string;
  readonly en: string;
  readonly other: string;
}

/** The messages of a language beside the English ones. */
const messagesBeside = (tag: string): readonly Message[] =>
  [...CATALOGUES, CONFIG_CATALOGUE].flatMap((catalogue) => {
    const others = messagesOf(tag, catalogue);
    return [...messagesOf('en', catalogue)].map(([path, en]) => ({
      path: `${catalogue}.${path}`,
      en,
      other: others.get(path) ?? '',
    }));
  });
const longest = (message: string): number =>
  Math.max(...textsOf(elementsOf(message)).map(({ length }) => length));
const namesIn = (message: string): string =>
  [...argumentsOf(elementsOf(message)).keys()].toSorted().join(', ');

/** Paths, with what is wrong there. */
const wrong = (messages: readonly Message[], judge: (message: Message) => string | null): string =>
  messages
    .flatMap((message) => {
      const fault = judge(message);
      return fault === null ? [] : [`${message.path}: ${fault}`];
    })
    .join('\n');

describe('the words of the page', () => {
  it('are texts, and messages that take their arguments by name and have the plural of their language', () => {
    const catalogue = {
      title: 'Flug',
      age: { days: '{n, plural, one {1 Tag} other {{n} Tage}}' },
      why: 'Kein Video{why, select, null {.} other {: {why}}}',
      steps: ['keins', 'eins'],
    };
    const words = wordsOf<typeof catalogue, { 'age.days': { n: number }; why: { why: string | null } }>(
      catalogue,
      'de',
    );
    expect([words.title, words.age.days({ n: 1 }), words.age.days({ n: 1500 })]).to.deep.equal([
      'Flug',
      '1 Tag',
      '1500 Tage',
    ]);
    expect([words.why({ why: null }), words.why({ why: '<aus> {x}' })]).to.deep.equal([
      'Kein Video.',
      'Kein Video: <aus> {x}',
    ]);
    expect(words.steps).to.deep.equal(['keins', 'eins']);
  });

  it('are there for each language that can be chosen', () => {
    expect(TAGS).to.have.members([...LANGUAGES]);
  });

  it('say of each route that changes something what was done', () => {
    const changes = ROWS.flatMap((row: Row) => (row.blast === 'none' ? [] : [row.id]));
    expect(Object.keys(audit.did).sort()).to.deep.equal(changes.sort());
  });

  it('have the types of their arguments as `npm run docs` writes them', () => {
    expect(readFileSync(ARGUMENTS_FILE, 'utf8')).to.equal(argumentsDocument());
  });

  it('are all said somewhere', () => {
    const paths = messagesBeside('en').flatMap(({ path }) =>
      path.startsWith(`${CONFIG_CATALOGUE}.`) ? [] : [path],
    );
    expect(paths.filter((path) => !SAID.some((each) => isSaidAt(each, path.split('.'))))).to.deep.equal([]);
  });

  for (const tag of TAGS) {
    const messages = messagesBeside(tag);

    it(`${tag}: fit on their buttons and tabs`, () => {
      const onButtons = SAID.filter(({ onButton }) => onButton);
      const most = (path: string): number =>
        /\.tabs?\.\w+$/.test(path)
          ? MAX_ON_TAB
          : onButtons.some((each) => each.path.length > 1 && isSaidAt(each, path.split('.')))
            ? MAX_ON_BUTTON
            : Number.POSITIVE_INFINITY;
      const long = messages.filter(({ path, other }) => longest(other) > most(path)).map(({ path }) => path);
      expect(long.filter((path) => !LONG_BUTTONS.includes(path))).to.deep.equal([]);
    });

    it(`${tag}: are set as print is: quotes and apostrophes, and a space before a unit`, () => {
      const isSet = (words: string): boolean =>
        !/['"]|\.\.\.|\d(?:m|km|s|min|%|V|A|MHz|dBm)\b/.test(words.replaceAll(/`[^`]*`/g, ''));
      expect(
        wrong(messages, ({ other }) => textsOf(elementsOf(other)).find((text) => !isSet(text)) ?? null),
      ).to.equal('');
    });
  }

  for (const tag of TAGS.filter((each) => each !== 'en')) {
    const messages = messagesBeside(tag);

    it(`${tag}: are those of English, none missing and none besides`, () => {
      for (const catalogue of [...CATALOGUES, CONFIG_CATALOGUE])
        expect([...messagesOf(tag, catalogue).keys()], catalogue).to.deep.equal([
          ...messagesOf('en', catalogue).keys(),
        ]);
      expect(
        wrong(messages, ({ en, other }) =>
          (en.trim() === '') === (other.trim() === '') ? null : `“${en}” is “${other}”`,
        ),
      ).to.equal('');
    });

    it(`${tag}: take the same arguments as in English`, () => {
      expect(
        wrong(messages, ({ en, other }) =>
          namesIn(en) === namesIn(other) ? null : `${namesIn(en)}; but ${namesIn(other)}`,
        ),
      ).to.equal('');
    });

    it(`${tag}: are not much longer than in English`, () => {
      expect(
        wrong(messages, ({ en, other }) => (longest(other) <= mostFor(longest(en)) ? null : other)),
      ).to.equal('');
    });

    it(`${tag}: are translated, except for what is the same in both languages`, () => {
      const same = SAME[tag] ?? new Set();
      expect(
        wrong(messages, ({ en, other }) => {
          const english = textsOf(elementsOf(en));
          const isLeft = (text: string): boolean =>
            ENGLISH.test(text) ||
            (english.includes(text) && LETTERS.test(text) && !isUnits(text) && !isSame(same, text));
          return textsOf(elementsOf(other)).find(isLeft) ?? null;
        }),
      ).to.equal('');
    });
  }
});
