import { isRecord, type JsonObject, listOf, memberOf, recordOf } from '../../member.ts';
import type { MissionItem } from '../../schemas/mission-item.ts';
import { isPlace } from '../commands.ts';
import { type Camera, groundResolution } from './camera.ts';

import type { LatLon } from './plane.ts';
import {
  type Corridor,
  cornersOf,
  type HeightAbove,
  leastCorners,
  MAX_CORNERS,
  type Orbit,
  type PatternSettings,
  type Photos,
  type Structure,
  type Survey,
  type Transects,
  wrongFigure,
} from './settings.ts';

/**
 * Patterns as QGroundControl keeps them in a plan: survey version 5 (4 is read), CorridorScan 2, StructureScan 3, with
 * TransectStyleComplexItem 2 and CameraCalc 2 (1 is read) inside, of QGroundControl 4.3 and 5
 * (https://docs.qgroundcontrol.com/master/en/qgc-dev-guide/file_formats/plan.html; each member that the `load` of its
 * src/MissionManager/{Survey,CorridorScan,StructureScan,TransectStyle}ComplexItem.cc, CameraCalc.cc and CameraSpec.cc asks for is written).
 */

const CUSTOM = 'Custom Camera';
const MANUAL = 'Manual (no camera specs)';

/** QGroundControl's AltMode (QGroundControlQmlGlobal.h); 3 has the heights of the terrain in its items. */
const ABOVE: Readonly<Record<number, HeightAbove>> = { 1: 'home', 2: 'sea', 3: 'terrain', 4: 'terrain' };
const DISTANCE_MODE: Readonly<Record<HeightAbove, number>> = { home: 1, sea: 2, terrain: 4 };

/** The settings of a complex item; null for one that is not known here, or says what no pattern may. */
export function readComplex(item: JsonObject): PatternSettings | null {
  const settings = read(item);
  if (settings === null || wrongFigure(settings) !== null) return null;
  const corners = cornersOf(settings);
  const wrong = corners.length < leastCorners(settings.kind) || corners.length > MAX_CORNERS;
  return wrong ? null : settings;
}

function read(item: JsonObject): PatternSettings | null {
  const { complexItemType: type, version } = item;
  if (type === 'survey' && (version === 4 || version === 5)) return readSurvey(item);
  if (type === 'CorridorScan' && version === 2) return readCorridor(item);
  if (type === 'StructureScan' && version === 3) return readStructure(item);
  return null;
}

function readSurvey(item: JsonObject): Survey | null {
  const polygon = readPlaces(item['polygon']);
  if (polygon === null) return null;
  return {
    kind: 'survey',
    polygon,
    ...readTransects(recordOf(item['TransectStyleComplexItem']), item['entryLocation']),
    angle: turned360(numberAt(item, 'angle')),
    crosshatch: memberOf(item['TransectStyleComplexItem'], 'Refly90Degrees') === true,
    alternate: item['flyAlternateTransects'] === true,
  };
}

function readCorridor(item: JsonObject): Corridor | null {
  const line = readPlaces(item['polyline']);
  if (line === null) return null;
  const transects = readTransects(recordOf(item['TransectStyleComplexItem']), item['EntryPoint']);
  return { kind: 'corridor', line, width: numberAt(item, 'CorridorWidth'), ...transects };
}

function readStructure(item: JsonObject): Structure | null {
  const polygon = readPlaces(item['polygon']);
  if (polygon === null) return null;
  return {
    kind: 'structure',
    polygon,
    ...readPhotos(recordOf(item['CameraCalc'])),
    top: numberAt(item, 'StructureHeight'),
    bottom: numberAt(item, 'ScanBottomAlt'),
    entrance: numberAt(item, 'EntranceAltitude'),
    fromTop: item['StartFromTop'] === true,
    pitch: numberAt(item, 'GimbalPitch'),
  };
}

function readTransects(transects: JsonObject, entry: unknown): Transects {
  const calc = recordOf(transects['CameraCalc']);
  const above =
    calc['version'] === 2
      ? (ABOVE[numberAt(calc, 'DistanceMode')] ?? 'home')
      : transects['FollowTerrain'] === true
        ? 'terrain'
        : calc['DistanceToSurfaceRelative'] === false
          ? 'sea'
          : 'home';
  return {
    ...readPhotos(calc),
    above,
    turnaround: numberAt(transects, 'TurnAroundDistance'),
    photosInTurns: transects['CameraTriggerInTurnAround'] === true,
    hover: transects['HoverAndCapture'] === true,
    entry: typeof entry === 'number' ? Math.trunc(entry) : 0,
  };
}

/** Without a camera QGroundControl keeps no overlap. */
const USUAL_OVERLAP = 70;

function readPhotos(calc: JsonObject): Photos {
  const distance = numberAt(calc, 'DistanceToSurface');
  const steps = {
    sideStep: numberAt(calc, 'AdjustedFootprintSide'),
    frontStep: numberAt(calc, 'AdjustedFootprintFrontal'),
  };
  const overlaps = {
    frontOverlap: numberAt(calc, 'FrontalOverlap', USUAL_OVERLAP),
    sideOverlap: numberAt(calc, 'SideOverlap', USUAL_OVERLAP),
    byResolution: calc['ValueSetIsDistance'] === false,
  };
  const { CameraName: name } = calc;
  if (name === MANUAL || typeof calc['SensorWidth'] !== 'number')
    return { camera: null, distance, ...overlaps, ...steps };
  const camera: Camera = {
    sensorWidth: numberAt(calc, 'SensorWidth'),
    sensorHeight: numberAt(calc, 'SensorHeight'),
    focal: numberAt(calc, 'FocalLength'),
    imageWidth: numberAt(calc, 'ImageWidth'),
    imageHeight: numberAt(calc, 'ImageHeight'),
    landscape: calc['Landscape'] !== false,
    minInterval: numberAt(calc, 'MinTriggerInterval', 0),
  };
  return { camera, distance, ...overlaps, ...steps };
}

/** NaN, which is beyond all bounds, for what is no number. */
function numberAt(object: JsonObject, name: string, absent = Number.NaN): number {
  const value = object[name] ?? absent;
  return typeof value === 'number' ? value : Number.NaN;
}

function readPlaces(value: unknown): readonly LatLon[] | null {
  const list = listOf(value);
  if (list.length > MAX_CORNERS) return null;
  const places = list.map((place) => {
    const [lat, lon] = listOf(place);
    return typeof lat === 'number' && typeof lon === 'number' ? { lat, lon } : null;
  });
  const known = places.filter((place) => place !== null);
  return known.length === places.length ? known : null;
}

function turned360(degrees: number): number {
  return degrees >= 0 && degrees <= 360 ? degrees : ((degrees % 360) + 360) % 360;
}

/** What a pattern of a plan was read from and stands for. */
interface WrittenPattern {
  readonly settings: Exclude<PatternSettings, Orbit>;
  readonly items: readonly MissionItem[];
  readonly photos: number;
  /** The complex item as it was read; members that are not known here stay as they are. */
  readonly source: JsonObject | null;
}

/** The complex item of a plan. @param items as the plan numbers them */
export function writeComplex({ settings, items, photos, source }: WrittenPattern): JsonObject {
  const own = recordOf(source);
  const inside = recordOf(own['TransectStyleComplexItem']);
  const isTransects = settings.kind !== 'structure';
  const before = recordOf(isTransects ? inside['CameraCalc'] : own['CameraCalc']);
  const calc = writeCalc(settings, before);
  const expanded = items.map(simpleItem);
  const common = { ...own, type: 'ComplexItem' };
  if (settings.kind === 'structure')
    return {
      ...common,
      complexItemType: 'StructureScan',
      version: 3,
      polygon: writePlaces(settings.polygon),
      CameraCalc: calc,
      StructureHeight: settings.top,
      ScanBottomAlt: settings.bottom,
      EntranceAltitude: settings.entrance,
      StartFromTop: settings.fromTop,
      GimbalPitch: settings.pitch,
      Layers: Math.max(1, Math.ceil((settings.top - settings.bottom) / settings.frontStep - 1e-9)),
      // QGroundControl makes them itself and passes over these; nobody else has to.
      Items: expanded,
    };
  const transects = {
    ...inside,
    version: 2,
    CameraCalc: calc,
    CameraShots: photos,
    CameraTriggerInTurnAround: settings.photosInTurns,
    HoverAndCapture: settings.hover,
    Refly90Degrees: settings.kind === 'survey' && settings.crosshatch,
    TurnAroundDistance: settings.turnaround,
    VisualTransectPoints: items.flatMap(({ command, x, y }) => (isPlace(command) ? [[x, y]] : [])),
    Items: expanded,
  };
  if (settings.kind === 'corridor')
    return {
      ...common,
      complexItemType: 'CorridorScan',
      version: 2,
      CorridorWidth: settings.width,
      EntryPoint: settings.entry,
      polyline: writePlaces(settings.line),
      TransectStyleComplexItem: transects,
    };
  return {
    splitConcavePolygons: false,
    ...common,
    complexItemType: 'survey',
    version: 5,
    angle: settings.angle,
    entryLocation: settings.entry,
    flyAlternateTransects: settings.alternate,
    polygon: writePlaces(settings.polygon),
    TransectStyleComplexItem: transects,
  };
}

function writeCalc(settings: Exclude<PatternSettings, Orbit>, before: JsonObject): JsonObject {
  const { camera, distance, byResolution, frontOverlap, sideOverlap, sideStep, frontStep } = settings;
  const above = settings.kind === 'structure' ? 'home' : settings.above;
  const mode = before['DistanceMode'];
  const kept = typeof mode === 'number' && ABOVE[mode] === above;
  const common = {
    ...before,
    version: 2,
    AdjustedFootprintSide: sideStep,
    AdjustedFootprintFrontal: frontStep,
    DistanceToSurface: distance,
    DistanceMode: kept ? mode : DISTANCE_MODE[above],
    FrontalOverlap: frontOverlap,
    SideOverlap: sideOverlap,
    ValueSetIsDistance: !byResolution,
  };
  if (camera === null) return { ...common, CameraName: MANUAL };
  const was = readPhotos(before).camera;
  const isSame = was !== null && JSON.stringify(was) === JSON.stringify(camera);
  return {
    ...common,
    // A name that QGroundControl knows would bring its own figures; one that it does not, it makes this of.
    CameraName: isSame && typeof before['CameraName'] === 'string' ? before['CameraName'] : CUSTOM,
    FixedOrientation: before['FixedOrientation'] === true,
    FocalLength: camera.focal,
    ImageDensity: groundResolution(camera, distance),
    ImageHeight: camera.imageHeight,
    ImageWidth: camera.imageWidth,
    Landscape: camera.landscape,
    MinTriggerInterval: camera.minInterval,
    SensorHeight: camera.sensorHeight,
    SensorWidth: camera.sensorWidth,
  };
}

function writePlaces(places: readonly LatLon[]): readonly (readonly [number, number])[] {
  return places.map(({ lat, lon }) => [lat, lon]);
}

/** An item of a plan. */
export function simpleItem(item: MissionItem): JsonObject {
  return {
    type: 'SimpleItem',
    autoContinue: item.autocontinue === 1,
    command: item.command,
    doJumpId: item.seq,
    frame: item.frame,
    params: [item.param1, item.param2, item.param3, item.param4, item.x, item.y, item.z],
  };
}

/** Orbits are none of QGroundControl's kinds: their settings stand beside its own members, which it passes over. */
export function readOrbit(value: unknown): Orbit | null {
  if (!isRecord(value)) return null;
  const centre = readPlaces([value['centre']])?.[0];
  const orbit: Orbit | null =
    centre === undefined
      ? null
      : {
          kind: 'orbit',
          centre,
          radius: numberAt(value, 'radius'),
          height: numberAt(value, 'height'),
          lookHeight: numberAt(value, 'lookHeight'),
          turns: numberAt(value, 'turns'),
          clockwise: value['clockwise'] !== false,
          start: numberAt(value, 'start'),
          trigger: numberAt(value, 'trigger'),
        };
  return orbit !== null && wrongFigure(orbit) === null ? orbit : null;
}

export function writeOrbit({ centre, ...orbit }: Orbit): JsonObject {
  return { ...orbit, centre: [centre.lat, centre.lon] };
}
