import { NoText, textOf } from '../../../../../../shared/files/text-of.ts';
import { memberOf } from '../../../../../../shared/member.ts';
import { Refused } from '../../../api/client.ts';
import { parseXml } from '../../../parts/script-urls.ts';
import { planWords } from '../plan-words.ts';
import { ForeignSystem, type FoundShapes, shapesIn } from './shapes-in.ts';
import { jsonBounds, MAX_FILE_BYTES, type TooMuch, xmlBounds } from './text-bounds.ts';

/** Files of shapes: KML, KMZ, GPX and GeoJSON, by their content. What a KML needs is loaded with the first one. */

const GEO_TYPE = /^(?:Feature(?:Collection)?|GeometryCollection|(?:Multi)?(?:Point|LineString|Polygon))$/;
/** A prefix that stands for KML's own namespace, in any of its versions. */
const PREFIX = /xmlns:([\w.-]+)\s*=\s*["']https?:\/\/(?:www\.opengis\.net|earth\.google\.com)\/kml/;

/** @returns null for another file @throws Refused with what is wrong in it */
export async function shapesOf(file: File): Promise<FoundShapes | null> {
  if (file.size > MAX_FILE_BYTES) throw refusal(planWords.import.bounds.size);
  const bytes = new Uint8Array(
    await file.arrayBuffer().catch(() => {
      throw refusal(planWords.unreadable);
    }),
  );
  const texts = bytes[0] === 0x50 && bytes[1] === 0x4b ? await unpacked(bytes) : [plainly(bytes)];
  const found = [];
  for (const text of texts) found.push(await foundIn(text, file.name));
  const known = found.filter((each) => each !== null);
  if (known.length === 0) return null;
  const shapes = known.flatMap((each) => each.shapes);
  const swapped = known.some((each) => each.swapped);
  if (shapes.length === 0) {
    const links = texts.some((text) => text.includes('NetworkLink>'));
    throw refusal(
      swapped ? planWords.import.swapped : links ? planWords.import.linksOnly : planWords.import.none,
    );
  }
  return { shapes, swapped, dropped: known.reduce((sum, { dropped }) => sum + dropped, 0) };
}

function plainly(bytes: Uint8Array): string {
  try {
    return textOf(bytes);
  } catch (error) {
    if (error instanceof NoText) throw refusal(planWords.unreadable);
    throw error;
  }
}

/** Null for a text that is neither XML nor GeoJSON. */
async function foundIn(text: string, name: string): Promise<FoundShapes | null> {
  if (/^\s*</.test(text)) return fromXml(text);
  return /^\s*[[{]/.test(text) ? fromJson(text, /\.geojson$/i.test(name)) : null;
}

async function unpacked(bytes: Uint8Array<ArrayBuffer>): Promise<readonly string[]> {
  const { KmzFault, kmlsIn } = await import('./kmz.ts');
  try {
    return kmlsIn(bytes);
  } catch (error) {
    if (!(error instanceof KmzFault)) throw error;
    throw refusal(error.message === 'size' ? planWords.import.bounds.size : planWords.import.noKmz);
  }
}

function fromJson(text: string, isNamed: boolean): FoundShapes | null {
  const problem = jsonBounds(text);
  try {
    if (!isNamed && problem !== null) return null;
    within(problem);
    const document: unknown = JSON.parse(text);
    const type = memberOf(document, 'type');
    return isNamed || (typeof type === 'string' && GEO_TYPE.test(type)) ? shapesIn(document) : null;
  } catch (error) {
    if (error instanceof ForeignSystem) throw refusal(planWords.import.crs({ name: error.message }));
    if (!(error instanceof SyntaxError)) throw error;
    if (isNamed) throw refusal(planWords.import.noGeoJson);
    return null;
  }
}

async function fromXml(text: string): Promise<FoundShapes> {
  within(xmlBounds(text));
  const { gpx, kml } = await import('@tmcw/togeojson');
  const prefix = PREFIX.exec(text)?.[1]?.replaceAll('.', '\\.');
  // What reads KML knows its elements by their names alone.
  const document = parseXml(
    prefix === undefined ? text : text.replaceAll(new RegExp(`<(/?)${prefix}:`, 'g'), '<$1'),
  );
  if (document.querySelector('parsererror') !== null) throw refusal(planWords.import.noKml);
  return shapesIn(document.documentElement.localName === 'gpx' ? gpx(document) : kml(document));
}

function within(problem: TooMuch | null): void {
  if (problem !== null) throw refusal(planWords.import.bounds[problem]);
}

function refusal(sentence: string): Refused {
  return new Refused(0, 'E_INVALID_VALUE', sentence);
}
