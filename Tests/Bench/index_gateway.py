# SPDX-License-Identifier: Apache-2.0
"""A gateway with some million stored numbers, kept for the next run."""
import os
import shutil
import sqlite3
import time

from .index_directory import ADDRESS, BRANDS, FIRST, RECENT, STEP, fields
from .subjects import Herald, Subject


class IndexGateway(Herald):
    """The numbers come from the stand-in directory; the folder is kept."""

    def __init__(self, name, binary, folder, count):
        super().__init__(name, folder, binary, None)
        self.folder, self.count = os.path.join(folder, str(count)), count
        self.key = os.path.join(self.folder, "api-key")

    def source(self):
        return (f'directory: {{url: "http://{ADDRESS[0]}:{ADDRESS[1]}", api_key_file: {self.key}, sync_interval: 1s, '
                "full_sync_interval: 30d}")

    def start(self, fresh=False):
        super().start(fresh)

    def stop(self, patience=120):
        Subject.stop(self, patience)

    def forget_ring(self):
        """Removes the ring, which otherwise keeps updates from one start to the next."""
        shutil.rmtree(self.runtime, ignore_errors=True)

    def rss_pss_peak(self):
        """Megabytes: resident now, the process's proportional share, and the peak."""
        figures = self.child.figures
        return {"rss": figures.resident() >> 20, "pss": figures.share() >> 20, "peak": figures.highest() >> 20}

    def change(self, *statements):
        """Changes the stored records while the gateway is not running."""
        with sqlite3.connect(os.path.join(self.folder, "brands.sqlite")) as database:
            for statement in statements:
                database.execute(statement)

    def prepare(self):
        """Stores the numbers, removes earlier calls, and dates the last full sync now."""
        stamp = os.path.join(self.folder, "filled")
        if not os.path.exists(stamp):
            print(f"storing {self.count:,} numbers of {BRANDS:,} brands", flush=True)
            self.fill()
            with open(stamp, "w", encoding="ascii"):
                pass
        for name in os.listdir(self.folder):
            if name.startswith("herald.sqlite") or name.endswith(".log"):
                os.remove(os.path.join(self.folder, name))
        self.change(f"UPDATE sync_state SET last_full_sync = {time.time():.0f}")

    def fill(self):
        """Stores the numbers as a full sync does; the gateway makes the tables."""
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder)
        with open(self.key, "w", encoding="ascii") as file:
            file.write("hd_0815\n")
        self.start()
        try:
            self.wait_until_up()
        finally:
            self.crash()
        with sqlite3.connect(os.path.join(self.folder, "brands.sqlite"), isolation_level=None) as database:
            database.execute("PRAGMA synchronous = OFF")
            database.execute("CREATE TEMP TABLE kind (id INTEGER PRIMARY KEY, name, brand_id, logo, reason)")
            database.execute("BEGIN")
            database.executemany(
                "INSERT INTO kind VALUES (?, ?, ?, ?, ?)", ((brand, *fields(brand)) for brand in range(BRANDS)))
            database.execute(f"""
                WITH RECURSIVE place (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM place WHERE i < {self.count - 1})
                INSERT INTO brand SELECT {FIRST} + {STEP} * i, name, brand_id, logo, reason, '{RECENT}'
                FROM place JOIN kind ON kind.id = i * 7919 % {BRANDS}""")
            database.execute(
                "UPDATE sync_state SET generation = generation + 1, cursor = ?, last_full_sync = ?, last_sync = ?",
                (RECENT, int(time.time()), int(time.time())))
            database.execute("UPDATE sync_state SET changes_since = generation, records = (SELECT COUNT(*) FROM brand)")
            database.execute("COMMIT")
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
