import { Compass, Layers, LocateFixed, Maximize, Navigation, Ruler } from 'lucide';
import type { JSX } from 'preact';
import { choices } from '../../../map/choices.ts';
import { Button } from '../../../parts/button.tsx';
import { t } from '../../../strings.ts';
import { follow, following, ruler, turnWithVehicle } from './state.ts';

/** The buttons of the map, below those that zoom. */
export function MapTools({
  onFit,
  onLayers,
}: {
  readonly onFit: () => void;
  readonly onLayers: () => void;
}): JSX.Element {
  const { headingUp } = choices.value;
  return (
    <>
      <Button
        icon={LocateFixed}
        aria-label={t.map.follow}
        aria-pressed={following.value}
        onClick={() => follow(!following.value)}
      />
      <Button
        icon={headingUp ? Navigation : Compass}
        aria-label={t.map.headingUp}
        aria-pressed={headingUp}
        onClick={() => turnWithVehicle(!headingUp)}
      />
      <Button icon={Maximize} aria-label={t.map.fit} onClick={onFit} />
      <Button
        icon={Ruler}
        aria-label={t.map.ruler}
        aria-pressed={ruler.value !== null}
        onClick={() => (ruler.value = ruler.value === null ? [] : null)}
      />
      <Button icon={Layers} aria-label={t.map.layers} aria-haspopup="dialog" onClick={onLayers} />
    </>
  );
}
