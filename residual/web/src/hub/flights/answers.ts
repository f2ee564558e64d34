/** What the hub answers about flights, as far as the page shows it. Times are ms since 1970; not measured is null. */

export interface Flight {
  readonly id: number;
  readonly node: string;
  readonly started_at: number;
  readonly ended_at: number;
  readonly armed_s: number;
  readonly airborne_s: number | null;
  readonly distance_m: number | null;
  readonly max_height_m: number | null;
  readonly max_speed_ms: number | null;
  readonly battery: {
    readonly id: string | null;
    readonly used_mah: number | null;
    readonly start_v: number | null;
    readonly end_v: number | null;
  };
  readonly pilots: readonly string[];
  readonly findings: number;
  readonly worst: 'info' | 'warning' | 'critical' | null;
}

export interface FlightPage {
  readonly flights: readonly Flight[];
  readonly next: string | null;
}

export interface FlightDetails extends Omit<Flight, 'findings'> {
  readonly vehicle: string | null;
  readonly modes: readonly { readonly name: string; readonly from_s: number; readonly to_s: number }[];
  readonly findings: readonly {
    readonly severity: 'info' | 'warning' | 'critical';
    readonly text: string;
    readonly at_s: number | null;
  }[];
  readonly log: string | null;
  /** `url` null: nowhere but on the drone. */
  readonly files: readonly {
    readonly kind: 'tlogs' | 'recordings' | 'flight-logs';
    readonly name: string;
    readonly url: string | null;
    readonly bytes: number | null;
  }[];
  readonly track: {
    readonly geometry: { readonly coordinates: readonly (readonly number[])[] };
  } | null;
}

export interface Due {
  readonly rule: string;
  readonly battery: string | null;
  readonly due: boolean;
  readonly hours_left: number | null;
  readonly flights_left: number | null;
  readonly days_left: number | null;
  readonly done_at: number | null;
  readonly done_by: string | null;
}

export interface Airframes {
  readonly airframes: readonly {
    readonly id: string;
    readonly name: string | null;
    readonly flights: number;
    readonly hours: number;
    readonly maintenance: readonly Due[];
  }[];
  readonly next: string | null;
}
