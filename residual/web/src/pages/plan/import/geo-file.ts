import { Refused } from '../../../api/client.ts';
import { parseXml } from '../../../parts/script-urls.ts';
import { t } from '../../../strings.ts';
import { type Found, shapesIn } from './shapes-in.ts';
import { jsonBounds, MAX_FILE_BYTES, type TooMuch, xmlBounds } from './text-bounds.ts';

/** Files of shapes: KML, KMZ and GeoJSON. What a KML needs is loaded with the first one. */

export function isGeoFile(name: string): boolean {
  return /\.(?:kml|kmz|geojson)$/i.test(name);
}

/** @throws Refused with what is wrong in it */
export async function shapesOf(file: File): Promise<Found> {
  if (file.size > MAX_FILE_BYTES) throw refusal(t.plan.import.bounds.size);
  const bytes = new Uint8Array(
    await file.arrayBuffer().catch(() => {
      throw refusal(t.plan.unreadable);
    }),
  );
  const isZip = bytes[0] === 0x50 && bytes[1] === 0x4b;
  const text = isZip ? await unpacked(bytes) : new TextDecoder().decode(bytes);
  const found = /^\s*[[{]/.test(text) ? fromJson(text) : await fromKml(text);
  if (found.shapes.length === 0) throw refusal(t.plan.import.none);
  return found;
}

async function unpacked(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const { KmzFault, kmlIn } = await import('./kmz.ts');
  try {
    return kmlIn(bytes);
  } catch (error) {
    if (!(error instanceof KmzFault)) throw error;
    throw refusal(error.message === 'size' ? t.plan.import.bounds.size : t.plan.import.noKmz);
  }
}

function fromJson(text: string): Found {
  within(jsonBounds(text));
  try {
    return shapesIn(JSON.parse(text));
  } catch (error) {
    if (error instanceof SyntaxError) throw refusal(t.plan.import.noGeoJson);
    throw error;
  }
}

async function fromKml(text: string): Promise<Found> {
  within(xmlBounds(text));
  const { kml } = await import('@tmcw/togeojson');
  const document = parseXml(text);
  if (document.querySelector('parsererror') !== null) throw refusal(t.plan.import.noKml);
  return shapesIn(kml(document));
}

function within(problem: TooMuch | null): void {
  if (problem !== null) throw refusal(t.plan.import.bounds[problem]);
}

function refusal(sentence: string): Refused {
  return new Refused(0, 'E_INVALID_VALUE', sentence);
}
