/**
 * Makes front/control/param-metadata/ardupilot.json: what ArduPilot's parameters are, without a sentence of its documentation.
 *   node deploy/build/ardupilot-params.ts SOURCE COPTER PLANE ROVER SUB FRAMES
 * SOURCE says what the files are of, for example `ArduPilot 4.7.0-dev 2598e9d4b2`; the others are `apm.pdef.json`, one a vehicle, as
 * `Tools/autotest/param_metadata/param_parse.py --vehicle ArduCopter --format json` of ArduPilot's sources writes it. FRAMES is what
 * it writes for ArduCopter as XML: the other file keeps one of two parameters with the same name, of multicopters or helicopters.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ardupilotParams } from '../../front/control/param-metadata/ardupilot-file.ts';
import type { ParamDescription } from '../../front/control/param-metadata/description.ts';
import {
  type ArdupilotFacts,
  FACTS_FILE,
  type Facts,
  VEHICLES,
} from '../../front/control/param-metadata/facts-file.ts';
import { parseJson } from '../../shared/member.ts';

/** A longer label is told without what explains it. */
const LABEL = 40;

const [source = '', ...given] = process.argv.slice(2);
if (given.length !== VEHICLES.length + 1)
  throw new Error(`SOURCE ${VEHICLES.join(' ').toUpperCase()} FRAMES`);
const files = given.slice(0, -1);
const frames = rangesOf(readFileSync(given.at(-1) ?? '', 'utf8'));

const places = new Map<string, number>();
const allFacts: Facts[] = [];
const params: Record<string, [mask: number, place: number][]> = {};
for (const [index, file] of files.entries()) {
  const json = parseJson(readFileSync(file, 'utf8'));
  const described = ardupilotParams(json);
  if (described === null) throw new Error(`${file} describes no parameters`);
  for (const { name, description } of described) {
    const facts = factsOf(index === 0 ? ofAllFrames(name, description) : description);
    const text = JSON.stringify(facts);
    const place = places.get(text) ?? allFacts.push(facts) - 1;
    places.set(text, place);
    const known = (params[name] ??= []);
    const same = known.find(([, other]) => other === place);
    if (same === undefined) known.push([1 << index, place]);
    else same[0] |= 1 << index;
  }
}
const table: ArdupilotFacts = {
  source,
  facts: allFacts,
  params: Object.fromEntries(Object.entries(params).toSorted(([a], [b]) => (a < b ? -1 : 1))),
};
const lines = (entries: readonly string[]): string => entries.join(',\n');
const text = `{"source":${JSON.stringify(source)},"facts":[
${lines(table.facts.map((facts) => JSON.stringify(facts)))}
],"params":{
${lines(Object.entries(table.params).map(([name, where]) => `"${name}":${JSON.stringify(where)}`))}
}}
`;
writeFileSync(join(import.meta.dirname, '../../front/control/param-metadata', FACTS_FILE), text);

/** The ranges of parameters that a file in XML has more than once, by name. */
function rangesOf(xml: string): ReadonlyMap<string, readonly (readonly [min: number, max: number])[]> {
  const ranges = new Map<string, (readonly [number, number])[]>();
  for (const [, name = '', fields = ''] of xml.matchAll(/<param [^>]*name="([^"]+)"[^>]*>(.*?)<\/param>/gs)) {
    const [, low, high] = /<field name="Range">(\S+) (\S+)<\/field>/.exec(fields) ?? [];
    if (low === undefined || high === undefined) continue;
    ranges.set(name, [...(ranges.get(name) ?? []), [Number(low), Number(high)]]);
  }
  return new Map([...ranges].filter(([, each]) => each.length > 1));
}

/** With a range that holds those of multicopters and of helicopters. */
function ofAllFrames(name: string, description: ParamDescription): ParamDescription {
  const ranges = frames.get(name);
  if (ranges === undefined) return description;
  const min = Math.min(...ranges.map(([low]) => low));
  const max = Math.max(...ranges.map(([, high]) => high));
  return { ...description, min, max };
}

function factsOf({
  units,
  min,
  max,
  increment,
  values,
  bitmask,
  reboot_required: reboot,
}: ParamDescription): Facts {
  return {
    ...(units === null ? {} : { units }),
    ...(min === null ? {} : { min }),
    ...(max === null ? {} : { max }),
    ...(increment === null ? {} : { step: increment }),
    ...(values === null ? {} : { values: values.map(({ value, text: label }) => [value, short(label)]) }),
    ...(bitmask === null ? {} : { bits: bitmask.map(({ bit, text: label }) => [bit, short(label)]) }),
    ...(reboot === true ? { reboot: true } : {}),
  };
}

/** The label without what explains it. */
function short(label: string): string {
  return label.length <= LABEL ? label : (label.split(/\s*[(:;,.]|\s-\s/)[0] ?? label);
}
