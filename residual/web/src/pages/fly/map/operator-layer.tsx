import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { choices, isShown } from '../../../map/choices.ts';
import { Circle, Marker } from '../../../map/layers.tsx';
import { t } from '../../../strings.ts';
import { told } from '../../../vehicle/operator-place.ts';
import { PlaceLabel } from './target-layer.tsx';

/** Where the person is: this device, when it may say so, and the place that Remote ID tells of the operator. */

interface OwnPlace {
  readonly lat: number;
  readonly lon: number;
  /** m */
  readonly accuracy: number;
}

const own = signal<OwnPlace | null>(null);
/** Why this device does not say where it is, in words. */
export const ownTrouble = signal<string | null>(null);

const OPTIONS: PositionOptions = { enableHighAccuracy: true, timeout: 30_000, maximumAge: 10_000 };
/** GeolocationPositionError.PERMISSION_DENIED */
const DENIED = 1;
const MOST_DRAWN_M = 5000;

/** Asks for the place of this device as long as a map is shown that is to show it. */
export function useOwnPlace(): void {
  const wanted = choices.value.ownPlace;
  useEffect(() => {
    own.value = null;
    ownTrouble.value = null;
    if (!wanted || !isSecureContext) return;
    const watch = navigator.geolocation.watchPosition(
      ({ coords: { latitude: lat, longitude: lon, accuracy } }) => {
        own.value = { lat, lon, accuracy };
        ownTrouble.value = null;
      },
      ({ code }) => {
        // No satellites for a moment: it stays where it was.
        if (code !== DENIED) return;
        own.value = null;
        ownTrouble.value = t.map.ownPlaceDenied;
      },
      OPTIONS,
    );
    return () => navigator.geolocation.clearWatch(watch);
  }, [wanted]);
}

export function OperatorLayer(): JSX.Element | null {
  const here = own.value;
  const operator = told.value;
  if (!isShown('operator')) return null;
  return (
    <>
      {operator === null ? null : (
        <>
          <Marker at={operator} text="ID" kind="operator" />
          <PlaceLabel at={operator} text={t.map.operator} />
        </>
      )}
      {here === null ? null : (
        <>
          {here.accuracy < MOST_DRAWN_M ? <Circle centre={here} radius={here.accuracy} kind="own" /> : null}
          <Marker at={here} text="" kind="own" />
          <PlaceLabel at={here} text={t.map.you} />
        </>
      )}
    </>
  );
}
